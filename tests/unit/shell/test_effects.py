"""What a command line creates or changes."""

import pytest

from snell.shell.effects import Effects, effects_of

CHANGES = [
    ("touch a 'b c'", "a|b c"),
    ("echo hi > out.txt", "out.txt"),
    ("echo hi >> out.txt", "out.txt"),
    ("echo hi >| out.txt", "out.txt"),
    ("make &> both.log", "both.log"),
    (": > empty", "empty"),
    ("> empty", "empty"),
    ("cat a | tee -a b c", "b|c"),
    ("mkdir -p -m 700 a/b", "a/b"),
    ("cp -r a b dest", "dest"),
    ("cp -t dest a b", "dest"),
    ("mv a b", "b"),
    ("ln -s target name", "name"),
    ("install -m 755 tool /usr/local/bin/tool", "/usr/local/bin/tool"),
    ("dd if=/dev/zero of=disk.img bs=1M", "disk.img"),
    ("sed -i s/a/b/ f", "f"),
    ("sed -i.bak -e s/a/b/ f g", "f|g"),
    ("curl -o page http://example.com/y", "page"),
    ("curl -sSLo page http://example.com", "page"),
    ("curl -O http://example.com/a.tgz?x=1", "a.tgz"),
    ("wget http://example.com/a.tgz", "a.tgz"),
    ("wget -qO page http://example.com", "page"),
    ("wget -P down http://example.com/a", "down/a"),
    ("tar xzf a.tgz", "."),
    ("tar -xf a.tar -C there", "there"),
    ("tar czf new.tgz src", "new.tgz"),
    ("unzip -o a.zip -d there", "there"),
    ("git clone https://example.com/x/repo.git", "repo"),
    ("git clone https://example.com/x/repo.git here", "here"),
    ("rm -rf build", "build"),
    ("sudo touch /etc/x", "/etc/x"),
    ("env A=1 timeout 5 touch x", "x"),
    ("bash -c 'echo x > y'", "y"),
    ("for i in 1 2; do touch f$i; done", "f$i"),
    ("(cd a && echo x > y)", "a/y"),
    ("find . -name x -exec touch {} +", "{}"),
]

NOTHING = [
    "ls -la 2>&1",
    "ls > /dev/null 2>&1",
    "ls &>/dev/null",
    "grep -r 'a > b' .",
    'echo "x >> y"',
    "cat <<'EOF'\n> not a file\ntouch neither\nEOF",
    "cat <<< 'echo > x'",
    "sed s/a/b/ f",
    "curl https://example.com",
    "curl -o /dev/null https://example.com",
    "tar tzf a.tgz",
    "unzip -l a.zip",
    "git status",
    "git log --oneline > /dev/null",
    "git branch",
    "exec 3>&1",
    "echo hi >&2",
    "[ 1 -gt 0 ] && echo yes",
    "head -5 < in.txt # > out.txt",
]


@pytest.mark.proves("S3-31")
@pytest.mark.parametrize(("line", "paths"), CHANGES)
def test_what_a_command_creates_or_changes_is_named(line: str, paths: str):
    found = effects_of(line)
    assert ("|".join(found.paths), found.reach) == (paths, "local")


@pytest.mark.proves("S3-31")
@pytest.mark.parametrize("line", NOTHING)
def test_what_only_looks_like_a_change_is_none(line: str):
    found = effects_of(line)
    assert found.paths == ()
    assert found.reach == "read_only" or line.startswith("exec")


@pytest.mark.parametrize(
    ("line", "reach"),
    [
        ("git push origin main", "external"),
        ("git push --dry-run", "local"),
        ("git -C there push", "external"),
        ("npm publish", "external"),
        ("gh pr create --title x", "external"),
        ("gh pr list", "read_only"),
        ("curl -X POST https://example.com -d a=1", "external"),
        ("curl -XDELETE https://example.com", "external"),
        ("curl --data-binary @f https://example.com", "external"),
        ("scp a host:b", "external"),
        ("ssh host true", "external"),
        ("aws s3 ls", "read_only"),
        ("aws s3 rm s3://x/y", "external"),
        ("kubectl apply -f x", "external"),
        ("pip install x", "local"),
        ("npm ci", "local"),
        ("apt-get update", "local"),
        ("git commit -m x", "local"),
        ("git stash", "local"),
        ("find . -delete", "local"),
        ("pytest -q", "local"),
        ("./deploy.sh", "local"),
        ("$PROGRAM a", "local"),
        ("echo 'unclosed", "local"),
        ("ls && git push", "external"),
    ],
)
def test_how_far_a_command_reaches(line: str, reach: str):
    assert effects_of(line).reach == reach


@pytest.mark.parametrize("line", ["", "\0", "|", ">", "> $(", "a" * 2_000_000, "touch " * 5_000, "💥 > é"])
def test_any_text_has_an_answer(line: str):
    assert isinstance(effects_of(line), Effects)


BY_REACH = {
    "external": r"""
        vercel --prod
        vercel
        vercel ./dist --prod
        npx vercel --prod
        curl smtp://m --mail-rcpt x
        curl --url smtps://m --mail-from a --mail-rcpt b -T mail.txt
        flock l git push
        flock -n /tmp/l -c "git push"
        su -c "git push"
        su - deploy -c "git push origin main"
        runuser -u x -- git push
        npx wrangler deploy
        npx --yes wrangler@latest deploy
        git subtree push --prefix dist origin gh-pages
        echo x > /dev/tcp/h/80
        exec 3<>/dev/tcp/h/80
        redis-cli INCR n
        redis-cli -h x -p 6379 SET a b
        redis-cli -n 2 DEL a
        parallel git push ::: a b
        parallel "git push {}" ::: a b
        watch git push
        watch -n 5 "git push"
        script -c "git push" out
        script -qc "curl -X POST http://a" /dev/null
        psql -c "INSERT INTO a VALUES (1)"
        psql -h db -U me -d x -c "update t set a=1"
        psql -f migrate.sql
        psql postgres://h/db < dump.sql
        mysql -e "DELETE FROM a"
        mysql -uroot -psecret -e "drop table x" db
        mongosh --eval "db.a.insertOne({a:1})"
        mongosh mongodb://h/db --eval "db.a.deleteMany({})"
        jj git push
        buildah push img docker://r/i
        sam deploy
        railway up
        tmux send-keys "git push" Enter
        docker exec c git push
        docker run --rm img sh -c "git push"
        bundle exec cap production deploy
        poetry run twine upload dist/*
        uv run twine upload dist/x.whl
        pnpm dlx wrangler deploy
        bunx vercel deploy
        strace -f git push
        op run -- git push
        doppler run -- terraform apply
        aws-vault exec prod -- aws s3 rm s3://b/k
        npm run deploy
        yarn deploy
        pnpm run publish:all
        make deploy
        just publish
        rake release
        python -c "import requests; requests.post('http://a')"
        python3.12 -c "import smtplib"
        node -e "fetch('http://a', {method: 'POST'})"
        git submodule foreach git push
        git rebase main -x "git push"
        git rebase main --exec 'git push'
        hyperfine 'git push'
        concurrently "npm run build" "git push"
        fly deploy
        heroku container:push web
        kubectl exec p -- rm -rf /x
        helm upgrade a b
        supabase db push
        prisma migrate deploy
        npx prisma db push
        mosquitto_pub -t a -m b
        vault kv put secret/a b=c
        etcdctl put a b
        nix-shell --run "git push"
        nsenter -t 1 git push
        mvn -B deploy
        ./gradlew publish
        gh pr create -t x
        dvc push
        kamal deploy
        oras push r/i:1 f
        firebase deploy --only hosting
        netlify deploy --prod
        eb deploy
        aws lambda invoke --function-name f out.json
        gcloud run deploy x
        cat x | psql mydb
        sudo -u x git push
        nohup git push &
        timeout 5 git push
        bash -c 'git push'
        sh -c "cd x && git push"
        echo "DEL a" | redis-cli
        createdb x
        mongorestore dump
        git lfs push origin main
        hg push
        svn commit -m x
        xargs -n1 git push
        GIT_DIR=x git push
        cd a && git -C b push
        (git push)
        if true; then git push; fi
        git push origin HEAD:refs/for/main
        curl -X DELETE https://a
        curl -d a=b https://a
        http POST a.com a=b
        wget --post-data a=b http://x
        ansible-playbook site.yml
        ssh h uptime
        scp a h:/b
        rsync -a a/ h:b/
        systemd-run --user git push
        env -u X git push
        npm publish
        cargo publish
    """,
    "local": r"""
        git diff --output f
        git diff --output=f
        less -o f x
        less -Of x
        ls > /dev/nullx
        make build
        make test
        pytest -q
        npm run build
        npm test
        npm install
        git commit -m "fix git push and curl -X POST"
        git commit -am "docs: su -c git push"
        git add ssh config
        git fetch
        git pull
        git stash push
        git checkout push
        docker build -t x .
        docker run --rm img ls
        flock l make
        watch make
        su -c "make"
        npx tsc
        npx prettier -w .
        uv run pytest -q
        poetry run pytest
        cargo build
        cargo test
        go build ./...
        python -c "print(1)"
        python script.py
        node build.js
        touch docker push
        mkdir mail
        zip a.zip mail x
        vim x
        sqlite3 a.db "insert into x values(1)"
        tmux new -d "make"
        terraform plan -out p
        make release
        code ssh config
        python manage.py migrate
        go test -run Push
        docker compose up -d
    """,
    "read_only": r"""
        ls > /dev/null
        ls 2>/dev/null >/dev/stdout
        echo x > /dev/fd/2
        echo git push
        grep "git push" x
        rg 'curl -X POST'
        git diff
        git log -p
        less x
        psql -c "select 1"
        psql -h h -c "SELECT * FROM a WHERE b = 1; show tables"
        psql -l
        mysql -e "show databases"
        mongosh --eval "db.a.find()"
        redis-cli GET a
        redis-cli -h h PING
        curl https://a
        vercel --version
        vercel ls
        kubectl get pods
        gh pr list
        aws s3 ls
        git status
        cat f | head
    """,
}


@pytest.mark.parametrize(
    ("line", "reach"),
    [(line.strip(), reach) for reach, lines in BY_REACH.items() for line in lines.strip().splitlines()],
)
def test_how_far_many_commands_reach(line: str, reach: str):
    assert effects_of(line).reach == reach


def test_a_long_row_of_programs_that_run_others_is_read_in_good_time():
    assert effects_of("docker " * 5_000).reach == "local"
    assert effects_of("npx git " * 5_000 + "push").reach == "local"
