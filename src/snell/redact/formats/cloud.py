"""Keys of clouds, hosts, databases and networks."""

TABLE = """
aws-key             (AKIA|ASIA|ABIA|ACCA){U16}! A3T{U17}!
aws-session-token   (FwoGZXIvYXdz|IQoJb3JpZ2lu|FQoGZXIvYXdz|FQoDYXdz|AQoDYXdz){b80-2000}
bedrock-key         ABSK{b109-269} bedrock-api-key-{e40-900}
amazon-mws-token    amzn.mws.{u}
amazon-client       amzn1.oa2-cs.v1.{h64}
alibaba-key         LTAI{w12-30}!
tencent-key         AKID{w13-40}!
volcengine-key      AKLT{w20-50}!
baidu-key           bce-v3/ALTAK-{w21}/{h40}
yandex-token        t1.{s10-200}.{s60-90} t1.{s10-200}=.{s60-90} t1.{s10-200}==.{s60-90} AQVN{s35-38}! YC{s38}!
yandex-token        y0_{s50-70} y(1|2|3)_{s50-70}
digitalocean-token  (dop|doo|dor)_v1_{h64}
azure-secret        {w3}{d1}Q~{t31-34}
azure-key           {w52}JQQJ99{w26} {w76}+ASt{w5}== {w76}ACDb{w4}== {b40}+ARm{w4}= {w42}AzSe{w6} {w33}AzFu{w8}==
azure-key           {w42}+ACR{w6}
azure-devops-token  {l52}AZDO{w4-28}
heroku-key          HRKU-{s36-64}
vercel-token        (vcp|vci|vca|vcr|vck)_{w24-80}! vercel_blob_rw_{w16}_{w24-40}
netlify-token       nfp_{w36-44}
cloudflare-key      v1.0-{h24}-{h146} (cfk|cfut|cfat)_{s40-60}
fly-token           fo1_{s43} fm1(a|r)_{e100-800} fm2_{e80-2000}
render-key          rnd_{w28-40}
supabase-key        sbp_{h40} sbp_oauth_{h40} sb_secret_{s20-60}
neon-key            napi_{l60-70}
planetscale-token   pscale_(tkn|oauth|pw)_{q32-70}
mongodb-key         mdb_sa_sk_{s30-60}
cockroach-key       CCDB1_{w22}_{w40}
clickhouse-key      4b1d{w38}!
databricks-token    dapi{h32}! dapi{h32}-{d1}! dose{h32}! dkea{h32}!
snowflake-token     ver:1-hint:{d4-16}-ETMsDgAAA{e40-900}
dynatrace-token     dt0(a01|c01|c02|c03|e01|e02|e03|e04|s01|s02|s03|s04|s06|s08|s16).{U24}.{U64}
dynatrace-token     dt0(a01|c01|s01).{w24}.{w64}
aiven-token         aivenv1{b60-200} AVNS_{s19}
confluent-key       cflt{b60}
upstash-token       AX{w2}AAIncDE{b40-100}
scaleway-key        SCW{U17}!
tailscale-key       tskey-(auth|api|client|scim|webhook)-{w10-30}-{w16-64} tskey-{h12}-{h20-40}
ngrok-key           2{w24-26}_{w20-24}! (ak|cr)_{w27}!
akamai-token        akab-{l16}-{l16}
backblaze-key       K00{d1}{b27}!
tigris-key          (tid|tsec)_{s40-100}
convex-key          (prod|dev|preview):{a3-20}-{a3-20}-{d3}|{e60-200}
koyeb-token         koyeb_{w60-70}
deno-token          (ddp|ddo|ddw)_{w36}
scalingo-token      tk-us-{s48}
twilio-key          SK{h32}!
settlemint-token    sm_(aat|sat|pat)_{w16}!
infracost-key       ico-{w32}!
docker-swarm-token SWMTKN-1-{l49-51}-{l24-26}
depot-token        depot_(project|org|user)_{h64}
xata-key           xau_{w30-50}
porkbun-key        (sk1|pk1)_{h64}
exoscale-key       EXO{h24}!
nebula-key         dnkey-{s26}-{s52}
elastic-key        ess(a|u)_{b50-70}
openshift-token    sha256~{s43}!
fauna-key          fn(A|E){s36-40}!
dnsimple-token     dnsimple_(a|u)_{w28-40}
upcloud-token      ucat_{U26}
azure-devops-token {w76}AZDO{w4}!
"""
