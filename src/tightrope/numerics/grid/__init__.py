"""Few steps of any law: losses gathered in cells, convolved in floats whose errors are proved."""
