"""Lines that are no signal: code, output, questions, mentions, small talk. One half was kept aside while tuning."""

NOTHING_TUNED = """
import { store } from './store'
from app.store import Store
const store = createStore(reducer);
store.dispatch(save(note));
Store the value in the cache.
Save the file and close the editor.
Save changes
save = lambda x: db.save(x)
self.store(key, value)
The key is missing from the dictionary.
the key is a string
The key is 32 bytes long.
pattern: "src/**/*.ts"
pattern: ^[a-z]+$
This is a test.
It is a known limitation.
There is a file in the folder.
Here is the output of the command.
That is the question.
What is the status of the build?
is the server running?
x is a number
if value is a list: return
The server is running.
The tests are green.
Everything is fine.
Done.
OK, running the tests now.
Let me look at the file first.
I will read the configuration and then answer.
Selected 3 files.
no item selected
Should we go with Redis?
What did you decide?
We have not decided yet.
Have they chosen a name?
note taking apps are popular
See the release notes for 2.3.
footnote: see page 4
The fix is not merged yet.
The fix is in review.
Is the fix ready?
The issue is still open.
The issue was closed yesterday.
The problem was reported on Monday.
DNS names are resolved by the resolver.
Conflicts are resolved by hand.
resolved by: alice
The conference is a big convention in Berlin
The architecture is described in docs/design.md.
remember me checkbox
<input name="remember" type="checkbox">
int important = 1;
"important": true,
important_fields = ["a", "b"]
ls -la /tmp
git commit -m "fix typo"
npm install
added 214 packages in 3s
Compiling snell v0.1.0
PASS src/store.test.ts
41 passed in 2.31s
Traceback (most recent call last):
def test_store_saves_note(): ...
class NoteStore(Store):
SELECT * FROM notes WHERE important = 1;
return this.store.get(key);
for note in notes: store.save(note)
The user clicked the button.
I looked at three files and found nothing.
You can see the diff below.
Total: 42
Reading file src/main.rs
Hello, how are you?
Thanks, that looks good!
Let's see what happens.
The function returns a list.
The value is 42.
The file is empty.
The variable is unused.
All checks have passed.
Copying blob sha256:abc done
downloading 45% of 12 MB
test result: ok. 12 passed; 0 failed
first commit
We went to lunch.
to be continued
The first line is a comment.
Why did the build break?
He is the author of the patch.
They are the same.
This means nothing.
Nothing is the matter.
The endpoint is slow.
open the API docs
export default store;
after the meeting we talked
before lunch
step by step
the workflow file
Node is running on port 3000.
requires: []
depends_on: [db]
set -e
You need to restart the server.
you need to set up an account
""".strip().splitlines()

NOTHING_HELD_OUT = """
import note from "./note";
let store = new Map();
store.set('a', 1)
Save and exit.
Stored 12 items.
The store is closed on Sundays.
The key is wrong.
The key is in the drawer.
pattern: '*.py'
This is the end of the log.
It is the third attempt.
There are the usual suspects.
Which is the right file?
That was a long day.
Selected: main.py
Have we decided anything?
I am reading the file now.
Notes from the meeting
noted.
a note in the margin
The issue is assigned to bob.
The bug is fixed.
The fix was merged.
The solution is unknown.
The problem is still there.
resolved by 3 of 4 reviewers
important = config.get("important")
"remember": false
cargo build --release
Finished in 1.2 seconds
ok 1 - stores a value
FAILED tests/test_note.py::test_save
return note
if store is None: raise ValueError
The list is sorted.
The answer is yes.
I changed two lines.
Looks good to me.
Let me check.
Can you show me the file?
The page is loading.
What was the problem?
She is a developer.
We are done here.
Nothing to commit, working tree clean
The test is running.
Tests passed.
the endpoint
GET /index.html 200 4ms
API_URL = "http://localhost"
Before we start, a question.
After that, it was quiet.
first.txt
The process exited with code 0.
The environment is clean.
It is faster now.
version: 3
one step at a time
You need to log in.
Watch the video.
The convention center is full.
Be careful out there.
""".strip().splitlines()
