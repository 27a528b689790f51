"""The contour for few or rare steps: the law is cut to a window first."""
