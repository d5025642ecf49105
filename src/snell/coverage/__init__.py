"""`snell coverage`: compare what clients recorded in their own transcripts with what hooks saw"""
