"""Texts of everyday work without a secret that look as if they had one."""

import base64
import hashlib
import random
import uuid

FIXED = """
password: string;
def login(user: str, password: str) -> Token:
password = get_password()
password = os.environ["DB_PASSWORD"]
const token = await getToken(user);
token: ${{ secrets.GITHUB_TOKEN }}
API_KEY=${API_KEY}
API_KEY=$API_KEY
export TOKEN="$(cat token.txt)"
api_key: <your-api-key>
api_key = "YOUR_API_KEY"
password=changeme
password: ********
password = "xxxxxxxxxxxx"
OPENAI_API_KEY=sk-...
OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx
GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
aws_access_key_id = AKIAIOSFODNN7EXAMPLE
aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
Authorization: Bearer {token}
curl -u user:pass https://a.example
curl -u "$USER:$PASS" https://a.example
postgres://user:password@localhost:5432/db
postgres://${DB_USER}:${DB_PASSWORD}@db/app
max_tokens: 4096
"usage": {"input_tokens": 12034, "output_tokens": 553}
total_tokens=123456
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
secretName: database-credentials
secretKeyRef: {name: db, key: password}
"forgot_password": "Forgot your password?"
"password": "Password"
label.password=Enter your password
the password must have at least 12 characters
The token expired; log in again.
tokens = text.split()
key: primary
keys: [a, b, c]
primary_key = True
foreign_key="users.id"
public_key: ./keys/public.pem
key_file = /etc/ssl/private/server.key
password_file: /run/secrets/db_password
PASSWORD_MIN_LENGTH=12
passwordStrength: "strong"
token_type: bearer
token_url: https://auth.example.com/oauth/token
auth_provider: google-oauth2
csrf_enabled=true
session_timeout=3600
secret: true
secret = None
password: null
password = ""
if password == expected_password:
assert response.json()["token"] is not None
self.assertEqual(token.value, "ACCESS")
<input type="password" name="password" placeholder="Password">
test_password_reset_sends_mail PASSED
feat(auth): rotate the signing secret every day
- [ ] store the api key in the keychain
error: missing environment variable API_TOKEN
Enter passphrase for key '/home/me/.ssh/id_ed25519':
Password:
sudo: a password is required
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGk3u3v8bW1hY2hpbmVfcHVibGljX2tleV94eXo me@host
SHA256:uNiVztksCsDhcc0u9e8BgrJXVGDzhPYdMHvBh1R7c1g me@host (ED25519)
/nix/store/0c7c96gikmzv87i7lv3vq5s1cmfjd6zf-openssl-3.0.13
registry.example.com/app@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
golang.org/x/sys v0.20.0 h1:Od9JTbYCk261bKm4M/mw7AklTlFYIa0bIp9BgSm1S8Y=
"integrity": "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==",
index 83db48f..bf2a2c5 100644
commit 3f786850e387550fdab836ed7e6dc881de23001b
ETag: "33a64df551425fcc55e4d42a148795d9f25f89d4"
arn:aws:iam::123456789012:role/service-role/my-function-role-1x2y3z4a
pod/api-7d9f8b6c5d-x2k4q 1/1 Running
etcd-io/etcd@v3.5.13
checkpoint-000123456789-of-000200000000.safetensors
-----BEGIN PUBLIC KEY-----
-----BEGIN CERTIFICATE-----
data-testid="submit-password-button"
class="text-token-secondary bg-token-main"
--color-token-primary: #ff8800;
var(--token-radius-large-outline-variant)
import { TokenService } from "./token.service";
from app.auth.tokens import create_access_token, decode_access_token
SELECT password_hash FROM users WHERE id = $1
ALTER TABLE users ADD COLUMN api_token VARCHAR(64) NOT NULL;
com.example.security.jwt.JwtAuthenticationTokenFilter
sk-learn-compatible-estimator-wrapper
npm_config_registry=https://npm.example
hf_transfer_enabled_by_default_setting
ghp_import_pages_to_branch_from_docs_folder
github_pat_format_is_described_in_the_manual
secret_santa_participants_of_the_year_list
re_compile_pattern_from_configuration_file
key-value-pairs-of-the-configuration
pat-na1-example-value-goes-here
Bearer authentication is required
basic authentication with a certificate
token budget exceeded: 8192 of 4096
monkey=banana_split_with_chocolate
keyboard_layout=de-latin1-nodeadkeys
turkey_recipe: roast-with-cranberries
author=Jane_Doe_from_Accounting
authority=login.example.com
compass=north-northwest-direction
passenger_list=/srv/data/passengers.csv
bypass=/usr/local/lib/bypass-config.json
tokenized_dataset=/data/wikitext-103-tokenized
password_reset_url = "https://a.example/reset"
SECRET_MANAGER_PROJECT=my-project-123
OAUTH_CLIENT_ID=1234567890-abcdefg.apps.googleusercontent.com
GOOGLE_APPLICATION_CREDENTIALS=/home/me/sa.json
AWS_PROFILE=production-readonly
SSH_AUTH_SOCK=/tmp/ssh-XXXXaBcDeF/agent.1234
XDG_SESSION_ID=c2
SECURITYSESSIONID=186a7
KEYCLOAK_REALM=internal-applications
passed=12 failed=0 skipped=3
--password-stdin
--token-file /run/token
tool --api-key "$API_KEY"
docker login -u me --password-stdin a.example
ssh -i ~/.ssh/id_ed25519 me@a.example
git push https://x-access-token:${TOKEN}@a.example/r.git
Das Passwort ist zu kurz und muss geändert werden
El token ha caducado, vuelve a iniciar sesión
密码不能为空
パスワードを入力してください
пароль должен содержать не менее восьми символов
clave primaria de la tabla de usuarios
parola non trovata nel dizionario
senha inválida, tente novamente
heslo musí mít alespoň osm znaků
""".strip().splitlines()


def drawn(draw: random.Random) -> dict[str, list[str]]:
    """Return kinds of texts built from random values."""
    raw = [draw.randbytes(draw.randint(20, 400)) for _ in range(40)]
    digests = [hashlib.sha256(item).hexdigest() for item in raw]
    ids = [str(uuid.UUID(bytes=item[:16], version=4)) for item in raw]
    sri = [base64.b64encode(hashlib.sha512(item).digest()).decode() for item in raw]
    pictures = [base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + item * 8).decode() for item in raw]
    return {
        "hash": [
            text
            for d in digests
            for text in (
                d,
                f"commit {d[:40]}",
                f"{d}  dist/app.whl",
                f"index {d[:7]}..{d[8:15]}",
                f'"sha256": "{d}"',
                f"md5: {d[:32]}",
                f"ETag: {d[:32]}",
                f"cache key: {d}",
            )
        ],
        "uuid": [
            text
            for i in ids
            for text in (
                i,
                f"id={i}",
                f'{{"session_id": "{i}"}}',
                f"request {i} done",
                f"/v1/items/{i}",
                i.replace("-", ""),
                f"trace_id: {i}",
                f"run-{i}.log",
            )
        ],
        "picture": [
            text
            for p in pictures
            for text in (
                f"data:image/png;base64,{p}",
                f'{{"type": "base64", "data": "{p}"}}',
                p,
                f"<img src='data:image/png;base64,{p}'>",
            )
        ],
        "minified": [_minified(draw) for _ in range(120)],
        "lock file": [text for d, s in zip(digests, sri, strict=True) for text in _lock_lines(d, s)],
        "fixed": FIXED,
    }


def _lock_lines(digest: str, integrity: str) -> tuple[str, ...]:
    in_base64 = base64.b64encode(bytes.fromhex(digest)).decode()
    folder = f"{digest[:2]}/{digest[2:4]}/{digest[4:]}"
    return (
        f'      "integrity": "sha512-{integrity}",',
        f"    --hash=sha256:{digest} \\",
        f'checksum = "{digest}"',
        f'  resolved "https://r.example/a/-/a-1.0.0.tgz#{digest[:40]}"',
        f"github.com/a/b v1.2.3 h1:{in_base64}",
        f'    {{url = "https://f.example/{folder}/a-1.whl", hash = "sha256:{digest}"}},',
        f"  cache: {digest[:10]}/{digest}",
        f'narHash = "sha256-{in_base64}";',
    )


def _minified(draw: random.Random) -> str:
    names = [
        "e",
        "t",
        "n",
        "r",
        "tokenType",
        "password",
        "key",
        "secret",
        "o",
        "getToken",
        "apiKey",
        "s",
        "authToken",
        "u",
    ]
    pieces = [
        "function {a}({b},{c}){{return {b}.{a}&&{c}[{d}]}}",
        "var {a}={b}({d}),{c}=!0;",
        "{a}:{b}.{c},",
        "{a}={b}.{c}({a},{d});",
        "if(!{a}){{throw new Error({b}({d}))}}",
        '{a}.prototype.{b}=function(){{return this.{c}||"{a}"}};',
        "const {{{a}:{b},{c}:{a}2}}={b}3;",
        "{a}?{b}:{c}.{a};",
        'e.type==="{a}"&&({b}={c}.value);',
    ]
    return "".join(
        draw.choice(pieces).format(
            a=draw.choice(names), b=draw.choice(names), c=draw.choice(names), d=draw.randint(0, 9999)
        )
        for _ in range(40)
    )
