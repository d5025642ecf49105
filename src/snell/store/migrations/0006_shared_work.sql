-- Work that several machines share through a server. `uid` is what a row is called on all of them, `rev` the server's
-- number of the last change of it that this machine has seen; `host` is the machine that works on it, empty for this one.

ALTER TABLE projects ADD COLUMN uid TEXT;
ALTER TABLE projects ADD COLUMN rev BIGINT NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX projects_by_uid ON projects (uid);

ALTER TABLE tasks ADD COLUMN uid TEXT;
ALTER TABLE tasks ADD COLUMN rev BIGINT NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX tasks_by_uid ON tasks (uid);

ALTER TABLE efforts ADD COLUMN uid TEXT;
ALTER TABLE efforts ADD COLUMN rev BIGINT NOT NULL DEFAULT 0;
ALTER TABLE efforts ADD COLUMN host TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX efforts_by_uid ON efforts (uid);

ALTER TABLE sessions ADD COLUMN uid TEXT;
ALTER TABLE sessions ADD COLUMN rev BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN host TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX sessions_by_uid ON sessions (uid);

ALTER TABLE phase_history ADD COLUMN uid TEXT;
ALTER TABLE phase_history ADD COLUMN rev BIGINT NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX phase_history_by_uid ON phase_history (uid);

ALTER TABLE messages ADD COLUMN uid TEXT;
ALTER TABLE messages ADD COLUMN rev BIGINT NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX messages_by_uid ON messages (uid);

-- only postgres
CREATE SEQUENCE work_rev;
CREATE INDEX projects_by_rev ON projects (rev);
CREATE INDEX tasks_by_rev ON tasks (rev);
CREATE INDEX efforts_by_rev ON efforts (rev);
CREATE INDEX sessions_by_rev ON sessions (rev);
CREATE INDEX phase_history_by_rev ON phase_history (rev);
CREATE INDEX messages_by_rev ON messages (rev);
-- end

-- only sqlite
-- One row while there is a server: which one, the last revisions fetched, and whether fetched rows are being written.
CREATE TABLE sharing (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  team TEXT NOT NULL DEFAULT '',
  cursors TEXT NOT NULL DEFAULT '{}',
  is_applying INTEGER NOT NULL DEFAULT 0
);

-- Local changes that the server does not have; `base` is the row before them, `times` the number of changes.
CREATE TABLE unshared (
  kind TEXT NOT NULL,
  key NOT NULL,
  base TEXT NOT NULL DEFAULT '{}',
  times INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (kind, key)
) WITHOUT ROWID;

-- Columns that change at every tool call (such as heartbeats) have no trigger, so that counting stays as quick as
-- without a server.
CREATE TRIGGER projects_added AFTER INSERT ON projects WHEN (SELECT is_applying FROM sharing) = 0 BEGIN INSERT INTO unshared (kind, key) VALUES ('projects', NEW.id) ON CONFLICT DO UPDATE SET times = times + 1; END;
CREATE TRIGGER projects_changed AFTER UPDATE OF name ON projects WHEN (SELECT is_applying FROM sharing) = 0 BEGIN INSERT INTO unshared (kind, key, base) VALUES ('projects', NEW.id, json_object('name', OLD.name)) ON CONFLICT DO UPDATE SET times = times + 1; END;
CREATE TRIGGER tasks_added AFTER INSERT ON tasks WHEN (SELECT is_applying FROM sharing) = 0 BEGIN INSERT INTO unshared (kind, key) VALUES ('tasks', NEW.dir_path) ON CONFLICT DO UPDATE SET times = times + 1; END;
CREATE TRIGGER tasks_changed AFTER UPDATE OF workspace, title, description, keywords ON tasks WHEN (SELECT is_applying FROM sharing) = 0 BEGIN INSERT INTO unshared (kind, key, base) VALUES ('tasks', NEW.dir_path, json_object('workspace', OLD.workspace, 'title', OLD.title, 'description', OLD.description, 'keywords', OLD.keywords)) ON CONFLICT DO UPDATE SET times = times + 1; END;
CREATE TRIGGER efforts_added AFTER INSERT ON efforts WHEN (SELECT is_applying FROM sharing) = 0 BEGIN INSERT INTO unshared (kind, key) VALUES ('efforts', NEW.id) ON CONFLICT DO UPDATE SET times = times + 1; END;
CREATE TRIGGER efforts_changed AFTER UPDATE OF skill, mode, lifecycle, current_phase, discovered_directives, discovered_directories, loaded_files, metadata, finished_at, host ON efforts WHEN (SELECT is_applying FROM sharing) = 0 BEGIN INSERT INTO unshared (kind, key, base) VALUES ('efforts', NEW.id, json_object('skill', OLD.skill, 'mode', OLD.mode, 'lifecycle', OLD.lifecycle, 'current_phase', OLD.current_phase, 'discovered_directives', OLD.discovered_directives, 'discovered_directories', OLD.discovered_directories, 'loaded_files', OLD.loaded_files, 'metadata', OLD.metadata, 'finished_at', OLD.finished_at, 'host', OLD.host)) ON CONFLICT DO UPDATE SET times = times + 1; END;
CREATE TRIGGER sessions_added AFTER INSERT ON sessions WHEN (SELECT is_applying FROM sharing) = 0 BEGIN INSERT INTO unshared (kind, key) VALUES ('sessions', NEW.id) ON CONFLICT DO UPDATE SET times = times + 1; END;
CREATE TRIGGER sessions_changed AFTER UPDATE OF prev_session_id, client_session_id, loaded_files, preloaded_files, discovered_directives, discovered_directories, dehydration_payload, rehydrated_at, transcript_path, cost, ended_at, end_reason ON sessions WHEN (SELECT is_applying FROM sharing) = 0 BEGIN INSERT INTO unshared (kind, key, base) VALUES ('sessions', NEW.id, json_object('client_session_id', OLD.client_session_id, 'loaded_files', OLD.loaded_files, 'preloaded_files', OLD.preloaded_files, 'discovered_directives', OLD.discovered_directives, 'discovered_directories', OLD.discovered_directories, 'dehydration_payload', OLD.dehydration_payload, 'rehydrated_at', OLD.rehydrated_at, 'transcript_path', OLD.transcript_path, 'cost', OLD.cost, 'ended_at', OLD.ended_at, 'end_reason', OLD.end_reason)) ON CONFLICT DO UPDATE SET times = times + 1; END;
CREATE TRIGGER phases_added AFTER INSERT ON phase_history WHEN (SELECT is_applying FROM sharing) = 0 BEGIN INSERT INTO unshared (kind, key) VALUES ('phase_history', NEW.id) ON CONFLICT DO UPDATE SET times = times + 1; END;
CREATE TRIGGER messages_added AFTER INSERT ON messages WHEN (SELECT is_applying FROM sharing) = 0 BEGIN INSERT INTO unshared (kind, key) VALUES ('messages', NEW.id) ON CONFLICT DO UPDATE SET times = times + 1; END;
-- end
