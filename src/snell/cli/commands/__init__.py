"""One module for each command of `snell`, loaded when it is called."""
