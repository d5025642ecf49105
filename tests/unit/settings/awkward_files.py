"""Forty files as people really have them, by format."""

BOM = "\ufeff"

JSON = {
    "empty object": "{}",
    "empty object, final newline": "{}\n",
    "blanks in the object": "{ }\n",
    "one line": '{"a": 1}',
    "one line, no blanks": '{"a":1,"b":[1,2]}',
    "two spaces": '{\n  "a": 1,\n  "b": {"c": []}\n}\n',
    "four spaces": '{\n    "a": 1\n}\n',
    "tabs": '{\n\t"a": 1,\n\t"b": 2\n}\n',
    "CRLF": '{\r\n  "a": 1\r\n}\r\n',
    "BOM": BOM + '{\n  "a": 1\n}\n',
    "BOM and CRLF": BOM + '{\r\n\t"a": 1\r\n}',
    "no final newline": '{\n  "a": 1\n}',
    "several final newlines": '{"a": 1}\n\n\n',
    "other hooks": '{\n  "hooks": {\n    "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]\n  }\n}\n',
    "other events": '{"hooks": {"PostToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "x"}]}]}}',
    "numbers as they were written": '{"a": 1.50, "b": 1e3, "c": -0, "d": 12345678901234567890}',
    "escapes as they were written": '{"\\u00e4": "\\/\\t\\ud83d\\ude00", "\u00f6": "ö"}',
    "a key with dots": '{"a.b": {"c": 1}}',
    "snell as a word": '{"note": "snell-hook is nice", "hooks": {"Stop": []}, "b": 1}',
    "odd spacing": '{ "a" :1 ,\n\n\n "b":\n2 }',
}
JSONC = {
    "line comments": '{\n  // first\n  "a": 1 // last\n}\n',
    "block comments": '/* head */\n{"a": /* one */ 1 /* after */}\n/* tail */',
    "trailing comma": '{\n  "a": 1,\n}\n',
    "trailing comma and comment": '{\n  "a": [1, 2,], // two\n}\n',
    "comment at the end of an object": '{\n  "a": 1\n  // nothing more\n}\n',
    "commented-out hooks": '{\n  // "hooks": {"Stop": []},\n  "a": 1\n}\n',
    "slashes in a text": '{"url": "http://localhost//x", "a": "/* no */"}',
}
TOML = {
    "empty": "",
    "comments": "# mine\na = 1 # one\n\n# end\n",
    "CRLF toml": "a = 1\r\n[b]\r\nc = 2\r\n",
    "multi-line text that looks like a header": 'a = """\n[[hooks]]\ncommand = "x"\n"""\n',
    "other servers": '[mcp_servers.other]\ncommand = "x"\n\n[mcp_servers.other.env]\nA = "1"\n',
    "other hooks toml": '[[hooks]]\nevent = "Stop"\ncommand = "say done"\n\n[ui]\ntheme = "dark"\n',
    "quoted keys": '["a b".c]\n"d e" = 1\n',
    "list over several lines": "a = [\n  [1, 2],\n  [3],\n]\n",
}
YAML = {
    "other extensions": "extensions:\n  dev:\n    type: builtin # mine\n",
    "four spaces yaml": "a: 1\nextensions:\n    dev:\n        type: builtin\nb: 2\n",
    "nothing of the kind": "GOOSE_MODEL: x\n",
    "CRLF yaml": "extensions:\r\n  dev:\r\n    type: builtin\r\n",
}
MARKDOWN = {
    "a page": "# Rules\n\n- be kind\n",
    "CRLF page": "# Rules\r\n\r\n- be kind\r\n",
    "no final newline page": "# Rules",
}
AWKWARD = {
    (kind, name): text
    for kind, files in (("json", JSON), ("jsonc", JSONC), ("toml", TOML), ("yaml", YAML), ("markdown", MARKDOWN))
    for name, text in files.items()
}
