"""The signals, as data: type, score, words one of which has to occur, and the pattern of the phrase."""

from snell.memory.signal_row import Row

_BEGIN = r"^(?:(?:please|so|and|also|but|then|ok|okay|yes|well|finally|reminder:)[, ]+){0,2}"  # of a sentence
_WE = r"(?:we|i|they|you|the team|everyone|it was|the group|maintainers|the \w+ team)"
_SOMETHING = r"[ \t]+\S+"
_NOT_A_NAME = (
    r"(?!(?:this|that|it|there|here|he|she|they|we|you|i|what|which|who|where|when|how|why|one|whether|everything"
    r"|nothing|something|"
    r"and|or|but|if|so|as|because|although|while|since|today|now|below|above|these|those|all|both|first|next|only"
    r"|not)\b)"
)


# What an agent refers to while it works; that is no lasting decision.
_NOT_THIS = (
    r"(?!(?:this|that|these|those|it|them|both|either|a temp\w*|the (?:same|output|result|results|following|above"
    r"|\w+ (?:tool|command))|(?:sed|grep|rg|awk|find|cat|ls|head|tail|jq|curl|git|bash|python|glob|read|edit|write)\b"
    r"(?=.*\b(?:to|for|on)\b))\b)"
)
# An instruction to do something or not: any verb except those of perception and thought.
_DOES = r"(?!(?:mind|worry|know|think|saw|seen|been|had|mine|again|the|a|an|sure)\b)[a-z-]+(?<!ing)(?<!ed)"


_DECISIONS_AND_CONVENTIONS = (
    Row(
        "decision",
        0.80,
        "decided|decision|chose|choosing|going with|go with|went with|selected|will use|'ll use|settled on"
        "|opted|picked"
        "|standardi|agreed|from now on|moving|migrating|switching|ended up|will not|won't|no longer|by design"
        "|going to|moved|migrated|switched|keeping"
        "|we use|we always use|we only use|will |'ll |shall |plan of record|instead of|rather than|do not|don't",
        rf"\b(?:{_WE}(?:'ve| have| has| had)?|finally|and|ultimately|instead)[ \t]+(?:just |finally |all |then "
        rf"|also |eventually )?"
        rf"(?:decided|chose|selected|picked|opted for|opted to|settled on|went with"
        rf"|standardi[sz]ed on)\b(?![ \t]+(?:nothing|not yet)){_SOMETHING}"
        r"|\b(?:was|were|been|got)[ \t]+(?:decided|chosen|selected)[ \t]+(?:to|that|over|because|for|instead|as)\b"
        r"|\b(?:we|i|they|we're|we are|i'm|i am|team is|are|am|let's|lets|'re)[ \t]+(?:now |all )?(?:going with"
        r"|go with)[ \t]+\w+"
        rf"|{_BEGIN}(?:decided|chose|going with|went with|settled on|opted for)[ \t]+\w+[ \t]+\w+"
        rf"|{_BEGIN}will use[ \t]+\w+"
        rf"|{_BEGIN}selected[ \t]+(?!\d)\w+[^.\n]{{0,60}}?[ \t](?:as|over|because|instead|for)\b"
        r"|\b(?:we|i|they|the \w+|team|project|you)(?: will|'ll| are going to| shall)[ \t]+(?:now |just |always "
        rf"|only )?use[ \t]+{_NOT_THIS}\S+"
        r"|\b(?:we|they|the \w+|everyone|everybody|it was|both)(?:'ve| have| has"
        r"| all)?[ \t]+agreed[ \t]+(?:that|to|on)\b"
        rf"|{_BEGIN}agreed[ \t]*:{_SOMETHING}|{_BEGIN}from now on\b,?{_SOMETHING}|{_BEGIN}by design\b,?{_SOMETHING}"
        r"|\b(?:we|they|the team)(?:'re| are| is)[ \t]+(?:now )?(?:standardi[sz]ing on|keeping|(?:moving"
        r"|migrating|switching)(?! on)"
        r"[ \t]+(?:\w+[ \t]+){0,4}?to)\b"
        r"|\b(?:we|they|i|the team)[ \t]+ended up[ \t]+(?:choosing|using|with|picking|keeping|going with)\b"
        r"|\b(?:we|the \w+|this project)[ \t]+(?:will not|won't|will never|no longer|do not"
        r"|don't)[ \t]+(?![^.\n]* yet\b)(?:use"
        r"|support"
        r"|ship|add|accept|allow|keep|depend|run|write|mock|cache|store|log)s?\b"
        r"|\b(?:we|the team)(?: will|'ll| are going to|'re going to| shall)[ \t]+(?:keep|drop|stay (?:with|on)"
        r"|support"
        rf"|remove|retire|replace)[ \t]+{_NOT_THIS}\w+"
        r"|\bwe[ \t]+(?:always |only )?use[ \t]+\S+(?:[ \t]+\S+){0,4}?[ \t]+(?:instead of|rather than|since|because)\b"
        r"|\b(?:we|they|the team)(?:'ve| have)?[ \t]+(?:moved|migrated"
        r"|switched)[ \t]+(?:\w+[ \t]+){0,2}?from[ \t]+\S+[ \t]+to\b|\bplan of record\b"
        rf"|{_BEGIN}(?:the |our |final )*decision[ \t]*(?::|is to|was to|is that|was that|was made to)",
    ),
    Row(
        "important",
        0.90,
        "important|note|remember|key point|keep in mind|nota bene|crucial|lesson|caveat|warning",
        rf"{_BEGIN}(?:\*\*|__|\[!|@)?(?:very |most )?(?:important|note|remember|key point|crucial"
        rf"|lessons? learned|caveat|warning)(?:\*\*|__"
        rf"|\])?[ \t]*(?::|!|—|–)(?:\*\*)?[ \t>]*\S+[ \t]+\S+"
        rf"|{_BEGIN}(?:please )?(?:note|remember|keep in mind)[ \t]+(?:that|to|,)\b{_SOMETHING}"
        r"|\b(?:it is|it's|is|also|most|more)[ \t]+(?:very |really |especially )?(?:important|crucial)[ \t]+(?:to"
        r"|that|not to)\b"
        rf"|{_BEGIN}(?:one|the|an?)[ \t]+(?:important|key)[ \t]+(?:point|thing|detail|caveat)\b",
    ),
    Row(
        "solution",
        0.85,
        "fix|solution|approach|remedy|way to",
        r"\bthe[ \t]+(?:\w+[ \t]+){0,2}?(?:fix|solution|approach|remedy)(?:[ \t]+(?:here|for (?:this|that|it)"
        r"|we (?:took|chose|used)|that worked))?[ \t]+"
        r"(?:is|was|turned out to be)[ \t]+(?!(?:not|in|on|already|still|unknown|pending|unclear|ready|merged"
        r"|deployed|out|live|tested|wrong|broken|done)\b)\w+"
        r"|\bthe[ \t]+(?:correct|right|proper|only)[ \t]+way to[ \t]+[^.\n]{2,60}?[ \t](?:is|was)\b"
        r"|\bto fix (?:it|this|that),[ \t]+(?:the|our|each|every|all)\b",
    ),
    Row(
        "error",
        0.80,
        "issue|problem|bug|cause|culprit|reason|turned out|turns out",
        r"\bthe[ \t]+(?:\w+[ \t]+){0,2}?(?:issue|problem|bug|root cause|cause|culprit)(?:[ \t]+(?:here|there"
        r"|with \w+|in \w+))?[ \t]+"
        r"(?:was|is|turned out to be)[ \t]+(?!(?:not|fixed|closed|gone|solved|resolved|reported|assigned|open|still"
        r"|now|unknown|unclear|tracked|hard|already)\b)\w+"
        rf"|{_BEGIN}(?:\*\*)?(?:the )?(?:root |actual |real )?cause(?:\*\*)?[ \t]*(?::|=|—"
        rf"|–)(?:\*\*)?[ \t]*\S+[ \t]+\S+"
        r"|\bthe[ \t]+(?:\w+[ \t]+){0,2}?(?:reason|cause)[ \t]+(?:for|of|why|that|the|it|this"
        r"|we)[ \t]+[^\n]{2,80}?[ \t](?:is|was)[ \t]+"
        r"(?!(?:not|unknown|unclear|still)\b)\w+"
        r"|\bthe[ \t]+(?:\w+[ \t]+){0,2}?reason[ \t]+(?:[\w`'.-]+[ \t]+){1,4}?(?:hang|fail|break|crash|flake|leak|stall"
        r"|time|die|stop|restart|retry|freeze|lag|drop|deadlock|(?:is|are|was|were)[ \t]+(?:slow|flaky|red|down|stuck))"
        r"(?:s|es|ed)?\b[^\n]{0,80}?[ \t](?:is|was)[ \t]+(?!(?:not|unknown|unclear|still)\b)\w+"
        rf"|{_BEGIN}(?:it )?turn(?:s|ed) out(?: that)?[ \t]+(?!to\b)\w+[ \t]+\w+"
        r"|\b(?:was|were|is|are)[ \t]+caused by\b" + _SOMETHING,
    ),
    Row(
        "explicit",
        0.95,
        "save|remember|note|store|forget",
        rf"{_BEGIN}(?:please[ ,]+|also[ ,]+|and |can you |could you |you should |always )?(?:save|remember|note"
        rf"|store|memorize)[ \t]+(?:that|down that|for later|the fact that)\b{_SOMETHING}"
        rf"|{_BEGIN}(?:please[ ,]+|can you |could you )?(?:save|remember|note|store)[ \t]+(?:this|these"
        rf"|it)?[ \t]*(?:for later|for next time|for the future|in (?:your )?memory|to memory|as a note|:)[ \t]*\S*"
        rf"|{_BEGIN}(?:please[ ,]+|can you |could you )(?:remember|note)[ \t]+(?!me\b)\w+"
        rf"|{_BEGIN}(?:remember|note|memorize)[ \t]+(?:my|our|we|i)\b{_SOMETHING}"
        rf"|{_BEGIN}(?:please )?(?:don't|do not|never) forget[ \t]+(?:that|to|about|we|our|my)\b{_SOMETHING}"
        r"|\bmake a note (?:that|of)\b",
        may_ask=True,
    ),
    Row(
        "pattern",
        0.85,
        "trick|key|pattern",
        r"\bthe[ \t]+(?:real |main |only )?trick(?:[ \t]+(?:here|is|was))+[ \t]+\w+|\bthe[ \t]+(?:real "
        r"|main )?key(?:[ \t]+(?:here|thing|insight|idea))?[ \t]+(?:is|was)[ \t]+(?:to|that|not to|never|always"
        r"|keeping|using|making)\b"
        rf"|{_BEGIN}pattern:[ \t]+(?:[A-Za-z'-]+[ \t,]+){{3}}",
    ),
    Row(
        "solution",
        0.80,
        "resolved|fixed|solved",
        r"\b(?:resolved|fixed|solved)(?:[ \t]+(?:it|this|that|the \w+))?[ \t]+by[ \t]+\w+ing\b|\b(?:was|got|were"
        r"|been)[ \t]+(?:resolved|fixed|solved)[ \t]+by[ \t]+(?:the|a|an|our)[ \t]+(?:new |latest "
        r"|recent )?(?:upgrade|change|patch|version|release|commit|restart|migration|update)",
    ),
    Row(
        "error",
        0.80,
        "because|due to|from",
        r"\b(?:happens|happened|occurs|occurred|doubled|tripled|grew|broke|failed|fails|crashed|crashes|breaks"
        r"|hung|hangs|deadlocked|leaked|stopped working"
        r"|timed out)[ \t]+(?:\w+[ \t]+){0,3}?because\b"
        + _SOMETHING
        + r"|\b(?:error|failure|crash|bug|leak|problem|issue|exception|regression|limit"
        r"|slowdown)s?(?:[ \t]+\w+){0,4}?"
        r"[ \t]+(?:came|comes|come|stems|stemmed|results|resulted)[ \t]+from\b"
        + _SOMETHING
        + r"|\bfail(?:ing|ed)?(?:[ \t]+\w+){0,3}?[ \t]+(?:was|is|were|are)[ \t]+due to\b",
    ),
    Row(
        "error",
        0.80,
        "error|failure|crash|exception",
        r"\bthe[ \t]+(?:\w+[ \t]+){0,2}?(?:error|failure|crash|exception)[ \t]+(?:was|is|were)[ \t]+(?:due to"
        r"|caused by|because of|a result of)\b",
    ),
    Row(
        "decision",
        0.80,
        "architecture",
        r"\b(?:the|our)[ \t]+(?:\w+[ \t]+)?architecture[ \t]+(?:will be|is going to be|shall be)\b" + _SOMETHING,
    ),
    Row(
        "definition",
        0.60,
        " is a| is an| is the| are the| are a|means|refers to|stands for",
        rf"{_BEGIN}{_NOT_A_NAME}(?:(?:the|an?)[ \t]+)?[`*\w][\w`*.-]*(?:[ \t]+[\w`*.-]+){{0,3}}?[ \t]+(?:is"
        rf"|are)[ \t]+(?:an?|the)[ \t]+(?!(?:same|bit|lot|few|good|bad|nice|problem|case|reason|test|question|mess"
        rf"|pain|first|last|next|best|worst|bug|issue)\b)[\w-]+"
        r"(?:[ \t]+[\w-]+){0,4}?[ \t]+(?:that|which|of|for|used|to|who|where|in|between|holding|from|with|behind|per"
        r"|around|over)\b"
        rf"|{_BEGIN}{_NOT_A_NAME}[`\"*\w][\w`\"*.-]*(?:[ \t]+[\w`.-]+){{0,2}}?[ \t]+(?:refers to"
        rf"|stands for)\b{_SOMETHING}"
        rf"|{_BEGIN}(?:an? |the )?[`\"*][^`\"*\n]{{1,40}}[`\"*][ \t]+means\b{_SOMETHING}",
    ),
    Row(
        "convention",
        0.70,
        "convention|always|never|prefer|policy|rule|must|don't|do not|the user|every|all |belong|in this|not |should"
        "|instead of|rather than|each |new |public |style|standard|practice",
        r"\bconventions?(?:[ \t]+(?:here|in this \w+|we (?:use|follow)|for \w+(?: \w+)?))?[ \t]*(?:is|are"
        r"|says)\b(?![ \t]+(?:not|unclear|a city))"
        rf"|\bby convention\b|\b(?:our|the)[ \t]+(?:\w+[ \t]+){{0,2}}?convention[ \t]*:"
        rf"|{_BEGIN}convention:{_SOMETHING}"
        rf"|{_BEGIN}(?:always|never)[ \t]+{_DOES}[ \t]+\S+"
        rf"|{_BEGIN}(?:don't|do not)[ \t]+{_DOES}\b[^\n]{{1,120}}?(?:;|,|—|–|\b(?:because|since|unless|from|past"
        rf"|during|until|without|in)\b)[ \t]*\w+"
        rf"|{_BEGIN}prefer[ \t]+\S+(?:[ \t]+\S+){{0,4}}?[ \t]+(?:over|to|instead of|rather than)\b"
        rf"|{_BEGIN}use[ \t]+\S+(?:[ \t]+\S+){{0,3}}?,?[ \t]+(?:not|never|instead of|rather than)[ \t]+\w+"
        rf"|{_BEGIN}(?:all|every|each|new|public)[ \t]+(?:[\w`.-]+[ \t]+){{1,4}}?(?:must|has to|have to|needs"
        rf"|need|should"
        r"|goes|go|lives|live|belongs|belong|ends|end|begins|begin|(?:is|are)[ \t]+(?:stored|named|written|kept"
        r"|signed))\b"
        r"|\b(?:our|the team's|project|house)[ \t]+(?:policy|rule|practice|style|standard)[ \t]+(?:is|says)\b"
        rf"|{_BEGIN}(?:\w+[ \t]+)?(?:rule|policy|style):{_SOMETHING}|{_BEGIN}as a rule\b"
        r"|\bthe user[ \t]+(?:always |never |explicitly )?(?:prefers|wants|likes|insists|expects|dislikes|hates"
        r"|(?:asked|told)[ \t]+(?:us |me )?(?:to (?:always|never)|that))\b"
        r"|\b(?:must|should)[ \t]+(?:never|always)[ \t]+(?!be\b)\w+[ \t]+\w+|\b(?:we|you|code"
        r"|it)[ \t]+must not[ \t]+\w+"
        r"|\bbelongs?[ \t]+(?:in|into|under)[ \t]+[`\w./-]*[/.`]"
        rf"|{_BEGIN}in this (?:project|repo|repository|code base|codebase),?[ \t]+(?:we|use|always|never|all"
        rf"|every|(?:[\w`-]+[ \t]+){{1,3}}?(?:(?:is|are)[ \t]+(?:always )?(?:named|called|kept|stored|written|put"
        rf"|placed|prefixed|suffixed|formatted|sorted|versioned|signed|generated|tagged)|goe?s?|lives?|belongs?|must"
        rf"|should))\b",
    ),
    Row(
        "workaround",
        0.70,
        "watch out|beware|careful with|gotcha|pitfall",
        rf"\bwatch out for{_SOMETHING}|{_BEGIN}(?:watch out|gotcha|pitfall):{_SOMETHING}|{_BEGIN}beware (?:of"
        rf"|that)\b{_SOMETHING}|{_BEGIN}be careful with\b{_SOMETHING}",
    ),
    Row(
        "workaround",
        0.75,
        "workaround|work around|worked around",
        r"\b(?:the|a|one|my|our|temporary|current)[ \t]+(?:\w+[ \t]+)?workaround(?:[ \t]+(?:here"
        r"|for \w+(?: \w+)?))?[ \t]+(?:is|was)\b(?![ \t]+(?:not|no longer|gone|removed|still))"
        r"|\bworkaround:[ \t]+\w+|\bwork(?:ed)? around (?:this|it|that|the \w+) by\b",
    ),
    Row(
        "configuration",
        0.65,
        "need to set|needed to set|had to set|needs to set|has to set|has to be set|must set|have to set"
        "|needs to be set|must be set|should be set|make sure to set",
        r"\b(?:you|we|users|one|i|it)[ \t]+(?:will |first |also |only )?(?:need|needs|have|has|must|needed"
        r"|had)(?: to)?[ \t]+(?:first |also )?set\b(?![ \t]+up\b)"
        + _SOMETHING
        + r"|\b(?:needs to|must|should|has to) be set (?:to|in|before|on|for|via)\b|\bmake sure to set\b"
        + _SOMETHING,
    ),
)


_MEASURE = (
    r"\d[\d.,]*[ \t]*(?:ms|µs|us|ns|s|sec|secs|seconds?|minutes?|mins?|hours?|[kmgt]i?b|%|percent|rps|qps|req/s|fps"
    r"|x)(?!\w)"
)
_SOFTWARE = (
    r"(?:python|node(?:\.?js)?|java|go|rust|ruby|php|perl|bash|docker|podman|kubernetes|k8s|postgres\w*|mysql|mariadb"
    r"|redis|sqlite|nginx|ubuntu|debian|alpine|rhel|centos|fedora|macos|windows|linux|glibc|gcc|clang|jdk|openjdk|\.net)"
)

_ENGINEERING = (
    Row(
        "testing",
        0.65,
        "test",
        r"\b(?:unit |integration |end-to-end |all |these |new |the |our |flaky )?tests?[ \t]+(?:must|should always"
        r"|have to|need to|needs to|need a|need the|need an|only pass|only run|require|rely on|run against)\b"
        r"|\b(?:run|start|execute) (?:the |all |our )?(?:\w+ )?tests? (?:with|using|by|via|against|before|in)\b"
        r"|\b(?:always|never) (?:write|add|run|mock|skip) (?:a |an |the |any )?(?:\w+ )?tests?\b",
    ),
    Row(
        "performance",
        0.65,
        "faster|slower|bottleneck|latency|throughput|slow because|memory use|n+1| from ",
        r"\b\d[\d.,]*[ \t]*(?:x|×|times|%|ms|percent)[ \t]+(?:faster|slower|quicker)\b"
        rf"|\b(?:cut|cuts|reduced|reduces|lowered|lowers|brought|brings|dropped|drops|improved|improves|shrank|shrinks"
        rf"|took|takes|went|goes|fell|falls|rose|grew|raised)\b[^.;\n]{{0,80}}?\bfrom[ \t]+(?:about |around |~)?"
        rf"{_MEASURE}[ \t]+(?:down |up )?to[ \t]+(?:about |around |under |~)?{_MEASURE}"
        r"|\bbottleneck(?:[ \t]+\w+){0,3}?[ \t]+(?:is|was|turned out)\b|\bslow because\b"
        r"|\b(?:latency|throughput|memory use)(?:[ \t]+\w+){0,3}?[ \t]+(?:dropped|fell|rose|went|doubled|halved"
        r"|improved|grew)\b|\b(?:much|far|twice|significantly|ten times)[ \t]+(?:as fast|faster|slower) (?:than|when"
        r"|with|because|if|since|after|with)\b",
    ),
    Row(
        "environment",
        0.65,
        "environment|env var|requires|needs|only works|on macos|on windows|on linux|on ci"
        "| runs| run | is on| are on| uses| use ",
        r"\benv(?:ironment)? var(?:iable)?s?[ \t]+[`\"]?\w+[`\"]?[ \t]+(?:must|has to|needs|need|controls|sets"
        r"|points|is required|decides|switches)\b"
        r"|\b(?:requires|only works (?:on|with)|needs)[ \t]+(?:at least )?(?:bash|make|cmake|perl|openssl"
        r"|python|node|java|go|rust|ruby|php"
        r"|docker|postgres\w*|macos|windows|linux|glibc|gcc|jdk)\b[ \t]*(?:version )?[\d.+]*"
        r"|\b(?:production|prod|staging|ci|the (?:build|test|live|old|new|customer'?s?)|our)(?:[ \t]+[\w-]+){0,2}?"
        r"[ \t]+(?:still |only |now )?(?:runs?|is on|are on|uses?)[ \t]+(?:on )?"
        rf"(?:{_SOFTWARE}(?:[ \t]+(?:version )?v?\d[\w.]*)"
        r"|[\w-]+[ \t]+v?\d+\.\d[\w.]*)"
        r"|\bon (?:macos|windows|linux|ci|alpine|debian|wsl)\b,?[ \t]+(?:you|we|it|this|the \w+)[ \t]+(?:need|needs"
        r"|must|fails|breaks|has|have|is|uses|only|does|cannot)\b",
    ),
    Row(
        "dependency",
        0.60,
        "depends on|pinned|incompatible|conflicts with|compatible with|requires",
        r"\b(?:is|are|was|stays|stay|must be|be|we|we've|have|got)[ \t]+pinned[ \t]+(?:to|at|below|because|\w+ (?:to"
        r"|at|below))\b|\b(?:is|are|was|were)[ \t]+(?:not |in)compatible with\b"
        r"|\b(?:package|library|module|version|release|plugin|crate|gem)[ \t]+(?:\S+[ \t]+)?(?:depends on|requires"
        r"|conflicts with)\b|\b[\w.-]+[ \t]+(?:depends on|requires|conflicts with)[ \t]+[`\w.-]+[ \t]*(?:[<>=~^]=?"
        r"|version|v)[ \t]*\d",
    ),
    Row(
        "api",
        0.60,
        "endpoint|api|route|get /|post /|put /|delete /|patch /",
        r"\b(?:the|this|our|that)[ \t]+(?:\S+[ \t]+){0,3}?(?:endpoint|api|route)[ \t]+(?:only |always |now |never "
        r"|also )?(?:returns|expects|accepts|requires|takes|rejects|answers|responds|paginates|limits|wants"
        r"|allows)\b"
        r"|\b(?:GET|POST|PUT|DELETE|PATCH)[ \t]+/[\w/{}:.-]+[ \t]+(?:\w+ly )?(?:returns|expects|accepts|requires"
        r"|takes|creates|answers|responds|needs|lists|deletes|updates)\b",
    ),
    Row(
        "procedure",
        0.65,
        "first|step|to ",
        rf"{_BEGIN}to[ \t]+(?:\w+[ \t]+){{0,6}}?\w+,[ \t]+(?:first |always |just |you |simply )?(?:run|use|call|open"
        rf"|set|add|create|delete|copy|edit|restart|install|execute|start|stop|bump|type|need|must|have)\b"
        rf"|{_BEGIN}first,?[ \t]+\w+[^.\n]{{3,120}}?(?:,|;|\.)[ \t]+(?:and[ \t]+)?then\b|\bthe steps (?:are|to"
        rf"|for)\b|{_BEGIN}steps to \w+|{_BEGIN}step \d+:[ \t]+\w+",
    ),
    Row(
        "workflow",
        0.65,
        "before|after|workflow|process|every time|whenever",
        rf"{_BEGIN}(?:always |never )?\w+[^.\n]{{0,60}}?\b(?:before|after) (?:every |each |any |you )?(?:merge"
        rf"|merging|commit|committing|push|pushing|deploy|deploying|release|releasing|tagging|opening a)\b"
        r"|\b(?:before|after) (?:every |each |any |you )?(?:merge|merging|commit|committing|push|pushing|deploy"
        r"|deploying|release|releasing|tagging|opening a (?:pr|pull request)),?[ \t]+(?:always|run|we|you|make|never"
        r"|update|bump|check|squash|wait)\b"
        r"|\b(?:the|our)[ \t]+(?:\w+[ \t]+)?(?:workflow|process)[ \t]+(?:is|starts|requires|says)\b",
    ),
)

ROWS: tuple[Row, ...] = (*_DECISIONS_AND_CONVENTIONS, *_ENGINEERING)
