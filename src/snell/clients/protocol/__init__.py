"""
Decode payloads and encode replies for the clients that a table describes.

A client's file is data: how the client names events, fields and tools, and which form it takes for each answer. The
code that reads these files is here.
"""
