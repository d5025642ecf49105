"""Traces: send what hooks decided to an OpenTelemetry receiver, in a process of its own"""
