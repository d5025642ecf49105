"""
What the client modules share: the tables in which a client is described, and the reading and answering by them.

A client's module is data. It says how that client names events, fields and tools, and what it takes for each answer;
everything else happens here, once.
"""
