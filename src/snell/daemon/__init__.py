"""The daemon: socket server, request handler, loop, wire format, HTTP and snell-hook in Python."""
