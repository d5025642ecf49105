"""
Sentences with what they are, of our own writing: for each type some, and many that are nothing.

The patterns were tuned on TUNED only (and on NOTHING_TUNED beside it); the others were written at the same time and
kept aside.
"""

TUNED: dict[str, str] = {
    "decision": """
We decided to keep the monolith for another year.
I chose SQLite because it needs no server.
We're going with server-side rendering for the landing page.
The team picked Kotlin over Java for the new service.
After the spike we settled on message queues between the two.
We will use UUIDs for every public identifier.
They opted for a rolling deployment.
Decision: no new features until the migration is done.
We've decided against a second cache layer.
For logging we'll use structlog everywhere.
The architecture will be event driven, with one writer.
Our overall architecture will be three small services behind a gateway.""",
    "important": """
Important: the migration cannot be rolled back.
Note: the sandbox resets at midnight UTC.
NOTE: keep this in sync with the schema
Remember: the cron job runs as another user.
Key point: retries must be idempotent.
Note that the parser drops trailing commas.
It is important to close the cursor before the pool.
Please note that staging shares a database with QA.
# NOTE: order matters in this list
// Important: called from two threads
Keep in mind that the free tier sleeps after an hour.""",
    "solution": """
The fix was to flush the buffer before the fork.
The solution is a lock around the registry.
The approach that worked was batching the writes.
The right fix is to compare the digests and not the names.
The best solution was moving the check into the loader.
Resolved by pinning the compiler to the older version.
We fixed it by raising the open file limit.
The outage was resolved by the latest patch.
Solved this by reading the file in binary mode.
The fix for this was deleting the stale lock.""",
    "error": """
The issue was a missing index on the join table.
The problem was that two workers shared a socket.
The bug was in the retry loop, which never slept.
The root cause is a clock that jumps backwards.
The build broke because the runner had no disk left.
The upload failed because the proxy strips the header.
It crashed because the list was changed while iterating.
The error was due to a stale certificate.
The last failure was caused by an expired token.
The real culprit was the garbage collector.""",
    "explicit": """
Remember that I prefer tabs in Makefiles.
Please remember that our default branch is trunk.
Save this for later: the test account is reset weekly.
Note that down that we ship on Thursdays? Note down that we ship on Thursdays.
Store that the billing service owns the invoices table.
Please note: invoices are immutable. Remember our style: no abbreviations.
Save that the reviewers want small commits.
Don't forget to bump the schema version.
Can you remember that the VPN is needed for staging?
Make a note that the fixtures are generated.
Remember we never squash on release branches.""",
    "pattern": """
The trick is to sort before you group.
The key is to keep the transaction short.
The key insight is that order does not matter here.
Pattern: each handler returns effects and never performs them.
The real trick is reading the file backwards.
The key here is not to block the loop.
The trick here was starting from the last page.""",
    "definition": """
A mark is a small named piece of state that survives a restart.
The spool is the folder where events wait for the server.
An effort is a unit of work that outlives one session.
`grace` means the seconds between TERM and KILL.
LTS stands for long-term support.
A tombstone refers to a row that was deleted but is still replicated.
The gateway is the only process in the public network of the cluster.
Backpressure is the way of telling a producer to wait.""",
    "convention": """
The convention here is to name tests after behaviour.
Our naming convention is verb first, then the noun.
By convention every module ends with its private helpers.
The convention in this repo is two spaces.
Convention: ids are kebab-case, fields are snake_case.
The convention for branches is type/topic.""",
    "workaround": """
Watch out for the trailing slash in the base URL.
The workaround is to run it twice.
A workaround for now is disabling the cache.
The current workaround was restarting the agent nightly.
Beware of the implicit commit in MySQL DDL.
Watch out for time zones when comparing dates.
We worked around this by copying the folder first.""",
    "configuration": """
You need to set MAX_CONN before the pool starts.
You have to set the region explicitly.
The flag must be set to false in production.
We needed to set a longer timeout for uploads.
You must set NODE_ENV or the bundle doubles in size.
The locale needs to be set before the import.
Make sure to set the umask in the unit file.""",
    "testing": """
Tests must not depend on the order of files.
Run the tests with one worker when debugging.
Integration tests need a running Postgres.
Always add a test for a fixed bug.
The new tests require the fake clock.
Never mock the database in tests; never skip a test silently.""",
    "performance": """
The new parser is 3x faster than the old one.
The bottleneck was the JSON encoder.
Startup is slow because every plugin is imported.
Latency dropped from 80 to 12 ms after batching.
The query is 40% slower with the extra join.
Throughput doubled once the lock was gone.""",
    "environment": """
The environment variable APP_MODE controls the log level.
The build requires Python 3.11 or newer.
On macOS you need the Xcode tools first.
It only works on Linux because of inotify.
On CI the cache is read only, on Windows it is absent.
The image needs Docker 24 for the new syntax.""",
    "dependency": """
numpy is pinned to 1.26 until the solver is ported.
The plugin requires version 4 of the host library.
fastlib depends on libfoo >= 2.3 at run time.
The two SDKs are incompatible with each other.
We pinned nothing, but the driver is pinned below 5.
The package requires a newer setuptools.""",
    "api": """
The search endpoint returns at most 100 rows.
The upload API expects a multipart body.
POST /v2/orders requires an idempotency header.
GET /health returns 204 when everything is up.
Our billing API rejects amounts with more than two decimals.
This route only accepts signed requests.""",
    "procedure": """
To regenerate the client, run make proto.
To add a locale, copy en.json and translate it.
First, stop the writer, then rotate the file.
Steps to release: tag, build, publish.
The steps are: drain, upgrade, resume.
To reset the counters, you delete the state folder.""",
    "workflow": """
Always run the linter before you push.
Before merging, squash the fixups.
After each release we bump the version on trunk.
Update the changelog before tagging.
Our review process requires two approvals.
The workflow is: branch, draft, review, merge.""",
}

HELD_OUT: dict[str, str] = {
    "decision": """
I decided on a single binary for distribution.
We chose to drop support for the old protocol.
The team selected Terraform for the new accounts.
We are going with a flat folder layout.
They finally settled on weekly releases.
I will use the streaming parser for big files.
Going with plain CSS for this page.
The architecture will be a ring of equal nodes.""",
    "important": """
Important: never run this against production.
Note: times are stored in UTC.
Remember to rotate the signing keys in March.
Key point: the client is the source of truth.
It's important that the hooks stay fast.
// NOTE: the array is sorted in place
Note that deletes are soft.""",
    "solution": """
The fix is to bind the socket before dropping privileges.
The solution was simply a larger heap.
The approach is to write to a temporary file and rename it.
The final solution was rewriting the matcher.
Resolved by clearing the DNS cache.
I fixed this by escaping the percent sign.""",
    "error": """
The problem is the shared temporary directory.
The bug was an off-by-one in the pager.
The issue was caused by a race in shutdown.
The deploy failed because the secret had expired.
The job broke because someone renamed the column.
The error was due to mixed line endings.""",
    "explicit": """
Remember that we deploy from the release branch.
Save that the demo account has no password reset.
Please remember my preference for British spelling.
Note that down: store that the queue is drained hourly.
Please don't forget that the tests need a display.
Save this for next time: the second argument is a mask.""",
    "pattern": """
The trick is using a sentinel node.
The key is to validate at the boundary.
Pattern: build the value first and swap it in last.
The key is that both sides agree on the order.
The trick was to hash the sorted keys.""",
    "definition": """
A receipt is a record that proves a step was done.
The ledger is the table of everything the agents ran.
An outcome is the result of one run of a hook.
SLA stands for service level agreement.
A canary refers to the first machine that gets a release.
Jitter is the variation of delay between packets.""",
    "convention": """
The convention here is that errors come last.
By convention, private names start with an underscore.
Our convention is one class per file.
The convention for tests is given, when, then.""",
    "workaround": """
Watch out for symlinks in the upload folder.
The workaround is setting the flag twice.
The workaround was to downgrade the driver.
Beware that the iterator is consumed by len.""",
    "configuration": """
You need to set the proxy in both files.
You must set a password for the replica.
The mode must be set to strict for new projects.
You'll see that you need to set LANG to C.UTF-8.""",
    "testing": """
The tests need a free port range.
Run all tests with the race detector.
Unit tests must finish within a second.
Always write a test before the fix.""",
    "performance": """
Compression made it 5 times faster.
The bottleneck is disk, not CPU.
The page is slow because of forty requests. It is slow because images are huge.
Throughput fell by half under TLS.""",
    "environment": """
It requires Node 20 or later.
The environment variable PATH_PREFIX must end with a slash.
On Windows the service has another name.
The tool only works with Docker running; it only works on macOS.""",
    "dependency": """
The driver is pinned at 2.9 for the old servers.
This version depends on openssl 3.
Version 2 of the client is not compatible with the old broker.
The library requires pydantic >= 2.""",
    "api": """
The login endpoint answers with 429 after five tries.
DELETE /users/{id} returns the deleted row.
The API only accepts JSON.
The export endpoint takes a cursor.""",
    "procedure": """
To rebuild the index, stop writes and run reindex.
To debug the worker, start it in the foreground.
First, back up the volume, then resize it.
Steps to reproduce are in the ticket.""",
    "workflow": """
Never push to trunk after tagging.
Before you commit, run the formatter.
After merging, we delete the branch.
Our release process is fully automatic.""",
}


def sentences(cases: dict[str, str]) -> list[tuple[str, str]]:
    return [(kind, line) for kind, text in cases.items() for line in text.strip().splitlines()]
