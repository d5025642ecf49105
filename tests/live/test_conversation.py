"""One conversation in every client: refused, changed, told, blocked, continued; then everything is given back."""

from tests.live.conversation import COLUMNS, HOOKS, ROW, converse
from tests.live.installed import version_of


def test_what_hooks_say_happens_in_the_client(driver, user, client_folder, model, record_property):
    folder = client_folder(driver)
    user.configure(hooks=HOOKS)
    user.write("project/precious.txt", "keep me")
    env = driver.prepare(user, model.url)
    before = user.homes_files()
    user.snell("setup", driver.client, "--yes")
    changed = {name for name in _differing(before, user.homes_files()) if (user.home / name).is_file()}
    found = converse(driver, folder, user, env, model)
    cells = ["yes" if found.happened[column] else "no" for column in COLUMNS]
    record_property(ROW, [driver.client, version_of(folder, driver.package), *cells])
    assert [column for column in COLUMNS if not found.happened[column] and column not in driver.cannot] == [], found
    assert found.notes == list(driver.notes_at), found
    assert (found.reason_given, found.ran_unchanged) == (driver.tells_why, False), found
    user.snell("setup", driver.client, "--uninstall", "--yes")
    assert not changed & _differing(before, user.homes_files())


def test_set_up_and_uninstall_leave_the_home_as_it_was(driver, user, client_folder):
    client_folder(driver)
    driver.prepare(user, "http://127.0.0.1:9")
    before = user.homes_files()
    user.snell("setup", driver.client, "--yes")
    assert user.homes_files() != before
    user.snell("setup", driver.client, "--uninstall", "--yes")
    assert user.homes_files() == before


def _differing(before, after):
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
