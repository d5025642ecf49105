"""The daemon: socket server, request handler, loop, wire format, HTTP and the Python stand-in of the shim."""
