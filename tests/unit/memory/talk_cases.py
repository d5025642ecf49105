"""
How agents talk while they work: 80 sentences that say something lasting, and 80 that tell what happens now.

Written before the patterns were tuned on every second one; the others were kept aside.
"""

LASTING = """
Root cause: the connection pool was never closed after a failed login.
Always use pnpm in this repository, since npm breaks the workspace links.
We agreed that all timestamps are stored in UTC.
The root cause is a race between the cache warmer and the first request.
Never commit generated files; the release job makes them.
We're standardizing on Vitest for all frontend tests.
The problem turned out to be a stale lock file in /var/run.
Use tabs, not spaces, in Makefiles here.
From now on, every migration needs a matching rollback script.
It was agreed that the API stays backwards compatible for two releases.
The bug was caused by integer division in the pager.
Fixed by raising the file descriptor limit to 65536.
Don't call the payment sandbox from unit tests; it bans the address.
The team agreed to drop Python 3.8 support in the next release.
We use feature flags instead of long-lived branches.
Turns out the DNS resolver caches negative answers for an hour.
Convention: handlers end in Handler and live in src/handlers.
All public functions must have type annotations.
After comparing both, I recommend Redis Streams and the user accepted it, so that is the plan of record.
The user prefers small commits with a test in each.
The user wants error messages in lower case.
Our convention is to name branches after the ticket.
The reason for the crash is that libssl 1.1 is loaded twice.
We ended up choosing GraphQL because the mobile team needs partial reads.
Decision: keep the monorepo.
We will not support Windows paths in the importer.
We are moving from Jenkins to GitHub Actions for all builds.
To fix it, the worker now acknowledges messages after the commit.
This happens because the scheduler reads the clock before NTP has synced.
The service must never log request bodies.
Do not upgrade eslint past 8, because the shared config needs it.
Prefer composition over inheritance in this code base.
The workaround is to restart the tunnel once a day.
You have to set PGTZ before the tests, otherwise the snapshots differ.
Make sure the emulator runs before the integration tests.
Every pull request needs two approvals before it is merged.
The solution was to pin protobuf below 4.
It fails because the proxy strips the Authorization header.
The culprit was a missing index on orders.customer_id.
As a rule, we mock only what we do not own.
Important: the staging database is shared with QA.
Keep in mind that deploys are frozen on Fridays.
The tokens expire after 15 minutes, so refresh them before each batch.
The correct way to start the stack is make up, not docker compose up.
I decided to split the parser into two modules because it had two jobs.
We chose Postgres over MySQL for its JSON operators.
The error came from a byte order mark at the start of the CSV file.
This was fixed by adding a retry around the upload.
The deploy script requires Bash 5, so macOS needs the one from Homebrew.
Rate limit: the partner API allows 100 requests per minute.
The staging URL is https://staging.example.com and needs the VPN.
By design, deleted rows stay for 30 days.
Authentication goes through Keycloak; the old LDAP bridge is gone.
All money is stored as integer cents.
Tests that touch the network belong in tests/live.
We no longer support Node 16.
The nightly job runs at 02:00 UTC and must finish before the backup.
Lesson learned: never run the reindex during business hours.
Gotcha: the ORM lazily loads the tags, so one query becomes a hundred.
Watch out: the linter rewrites imports in place.
Naming rule: tables are plural, columns are singular.
Please always answer in German in this project.
Agreed: we ship without the new editor.
It turned out that the tests depend on their order.
The trick is to build the wheel inside the container.
The fix is to use a monotonic clock.
Remember that the demo account is wiped each night.
We must not cache responses with a Set-Cookie header.
The timeout has to be larger than the retry window.
The cause of the leak was an event listener that was never removed.
We are going to keep the old endpoint until March.
In this project we format with ruff and never with black.
Our policy is to review dependencies every quarter.
The failing build was due to a missing submodule.
I went with a trie instead of a hash map because prefixes are looked up.
The user asked to never touch the vendor folder.
To release, run make tag and then push the tag.
The limit of 4 MB comes from the gateway and cannot be raised.
Memory doubled because each worker loads the model.
Secrets live in Vault, never in the environment files.
"""

NOTHING = """
Now I'll use sed to edit the file.
I selected 3 rows from the table.
If the issue is caching, restart the server.
Let me look at the tests first.
I'll use grep to find the callers.
Next, I will use the Edit tool to change line 40.
We will use this output in the next step.
I chose the first match and opened it.
I picked up where the last run stopped.
Should we go with the second option?
Maybe the problem is in the parser.
If the fix is simple, I will do it now.
The fix is not clear yet.
Perhaps the root cause is elsewhere.
I'm going with a quick look at the logs first.
I decided to read the file again.
Then I'll run the tests once more.
All 42 tests passed.
The build finished in 12 seconds.
The file has 300 lines.
I will now update the import in main.py.
Let's use the debugger to see what happens.
Do you want me to always use pnpm?
I have updated the function and its docstring.
The user selected the second file.
The error is shown below.
The error message says connection refused.
I need to check whether the cache is enabled.
I'll go with the default for now and see.
It might be caused by the proxy, but I am not sure.
Looking at the stack trace now.
We can use either of them here.
You can use the search box to find it.
I noticed that the tests are slow today.
This is a good start.
There are two places where this is called.
I'll make sure the tests pass before I stop.
Now let me set up the environment.
First, let me read the config, then I will run it.
The command returned exit code 1.
Running the linter gives three warnings.
I'm not sure why this fails.
What is the root cause?
Could you tell me which database you use?
I will remember to run the tests.
Let me note the line number and go on.
The issue is still there after the change.
The problem is that I cannot see the file.
I used find to list the files.
We picked the wrong line, so let me undo that.
I'm using the staging server for this check.
Use the arrow keys to scroll.
Done. The changes are in place.
Here is a summary of what I changed.
I added two tests and removed one.
I'll fix this by editing the second function.
Fixed the typo in the heading.
The solution compiles now.
I think we should look at the network tab.
Suppose the cause is a timeout.
When the problem is gone, close the ticket.
Let's see if it is important.
I've chosen a smaller window size for this run.
It will use the cached copy this time.
I'll use a temporary file for the output.
Going with option B for this one edit.
Trying again with the verbose flag.
I have decided to wait for the build to finish.
The search found no matches.
The second attempt worked.
Selected 5 items, 2 of them new.
This file must be somewhere under src.
You must be wondering why.
I always wonder what this flag does.
I never saw this file before.
Please wait while I check the logs.
The test needs a moment to start.
I agree, that looks right.
I agreed with the review and moved on.
That should be all for now.
"""


def halves(block: str) -> tuple[list[str], list[str]]:
    """The sentences the patterns were tuned on, and those kept aside."""
    lines = block.strip().splitlines()
    return lines[::2], lines[1::2]
