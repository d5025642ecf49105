"""Secrets of standards rather than of providers."""

TABLE = """
jwt                eyJ{s8-8192}.eyJ{s4-8192}.{s1-8192} eyJ{s8-8192}.eyJ{s4-8192}
jwt                eyJ{s12-8192}..{s8-64}.{s8-8192}.{s8-64} eyJ{s12-8192}.{s40-1024}.{s8-64}.{s8-8192}.{s8-64}
jwt                ZXlK{e40-8192}
password-hash      $2(a|b|y)${d2}${p53} $(5|6)${p1-16}${p43-86}
password-hash      $argon2(i|id|d)$v={d2}$m={d2-8},t={d1-3},p={d1-3}${b8-64}${b20-90} $apr1${p1-8}${p22}
password-hash      $y$j9T${p1-40}${p43}
paseto             v(1|2|3|4).local.{s64-4096}
"""
