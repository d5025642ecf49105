"""Send what hooks decide to an OpenTelemetry receiver: spans and metrics, from a process of its own."""
