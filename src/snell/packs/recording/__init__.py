"""Keep whole events, redacted, for `snell replay`, while the user has switched that on."""
