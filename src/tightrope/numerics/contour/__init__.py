"""The contour integral of a transform: found in floats, proved in balls."""
