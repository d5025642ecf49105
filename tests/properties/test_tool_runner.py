"""Whatever hooks, rules and people do to a tool call: what was judged last is what is executed."""

import asyncio

from hypothesis import example, given
from hypothesis import strategies as st

from snell import Allow, Ask, Deny, HookMatcher, Note, Rewrite, Tool, ToolRunner

words = st.sampled_from(["a", "b", "c"])
effects = st.one_of(
    st.none(),
    st.builds(Allow),
    st.builds(Ask),
    st.builds(Deny, words),
    st.builds(Note, words),
    words.map(lambda word: Rewrite(word=word)),
)
# What a hook answers to a word; a rewriter that answers every word with another one never comes to rest.
answers = st.fixed_dictionaries(dict.fromkeys("abc", effects))
NO_OPINION: dict[str, object] = dict.fromkeys("abc")


@given(
    first=words,
    hooks=st.lists(answers, max_size=3),
    dialogs=st.lists(answers, max_size=2),
    permission=answers.map(
        lambda says: {word: None if isinstance(each, Note) else each for word, each in says.items()}
    ),
    approves=st.sampled_from([True, False, None]),
    is_async=st.booleans(),
)
@example(  # the second hook had no opinion on `b`, which the third one then made an `a`
    first="c",
    hooks=[
        NO_OPINION | {"c": Rewrite(word="b")},
        NO_OPINION | {"c": Rewrite(word="a")},
        NO_OPINION | {"b": Rewrite(word="a"), "c": Rewrite(word="a")},
    ],
    dialogs=[],
    permission=NO_OPINION,
    approves=None,
    is_async=False,
)
def test_what_was_judged_last_is_what_is_executed(first, hooks, dialogs, permission, approves, is_async):  # noqa: C901 - one property
    ran, judged, permitted, approved = [], {}, [], []

    def hook(kind, number, says):
        def called(event):
            word = event.tool_input["word"]
            if kind == "PreToolUse":
                judged[number] = word
            return says[word]

        called.__name__ = f"{kind}{number}"
        return called

    def allow(value):
        permitted.append(value["word"])
        return permission[value["word"]]

    def approve(approval):
        approved.append(approval.input["word"])
        return approves

    runner = ToolRunner(
        [Tool("say", lambda word: ran.append(word), permission=allow)],
        hooks={
            kind: [HookMatcher("*", [hook(kind, number, says)]) for number, says in enumerate(several)]
            for kind, several in (("PreToolUse", hooks), ("PermissionRequest", dialogs))
        },
        approve=None if approves is None else approve,
    )
    if is_async:
        result = asyncio.run(runner.run_async("say", {"word": first}))
    else:
        result = runner.run("say", {"word": first})

    assert ran == ([result.input["word"]] if result.status == "done" else [])
    if not ran:
        return
    (word,) = ran
    for number, last in judged.items():
        says = hooks[number][last]
        assert not isinstance(says, Deny)  # no hook's refusal was passed over
        # Each hook saw the word that ran, or made it.
        assert last == word or says == Rewrite(word=word)
    last = permission[permitted[-1]]
    assert permitted[-1] == word or last == Rewrite(word=word)
    assert not isinstance(last, Deny)
    assert not approved or (approves and approved[-1] == word)
