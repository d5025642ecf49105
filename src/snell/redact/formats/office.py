"""Tokens of office, design, content, analytics and other services."""

TABLE = """
airtable-token     pat{w14}.{h64} key{w14}!
notion-token       secret_{w43}! ntn_{d11}{w32-36}!
asana-token        (0|1|2)/{d13-20}:{h32} (0|1|2)/{d13-20}/{d13-20}:{h32}
clickup-token      pk_{d6-10}_{U32}
trello-token       ATTA{h64}
figma-token        fig(d|u|o|or|oh|our|ouh|dr|dh|ur|uh)_{s40}
dropbox-token      sl.{s100-1500} sl.u.{s100-1500}
contentful-token   CFPAT-{s43}
mapbox-token       (sk|pk|tk).eyJ{s40-200}.{s20-30} pk.{l60}.{l22}
readme-key         rdme_{l70}
adobe-secret       p8e-{s32}!
frameio-token      fio-u-{s64}
posthog-key        phx_{w40-50} phs_{w40-50}
segment-token      sgp_{w64}
statsig-key        secret-{w40-50}!
flagsmith-key      ser.{w20-30}!
growthbook-key     secret_(prod|dev|readonly)_{w20-40} secret_(user|admin)_{w30-60}
okta-token         ~00{s40}!
clerk-key          ak_{w32-80}!
stytch-key         secret-(live|test)-{e30-60}
workos-key         sk_(staging|example)_{w40-90}
riot-key           RGAPI-{u}
lichess-token      lip_{w20}!
roblox-cookie      steal-your-ROBUX-and-items.|_{h100-1200}
uptime-robot-key   ~(u|m|ur){d5-9}-{h24}!
canva-secret       cnvca{s40-60}
calcom-key         cal_(live_){h32}! cal_{h32}!
webflow-token      ws-{h60-70}!
sanity-token       sk{w80-200}!
n8n-key            n8n_api_{h80-200}
dropboxsign-key    hs_{h64}!
nightfall-key      NF-{w32}!
hackerone-token    h1_{s40-60}!
adafruit-key       aio_{w28}!
maxmind-key        {w6}_{w29}_mmk
intra42-secret     s-s4t2(ud|af)-{h64}
ubidots-token      (BBFF|BBUS)-{w30-40}
appwrite-key       standard_{h128-256}
ory-token          ory_(pat|at|rt|ac|st|apikey)_{s32-90}
freemius-key       sk_{s29}!
authress-key       (sc|ext|scauth|authress)_{w5-30}.{w4-6}.acc(-|_){w10-32}.{e30-120}
authress-key       (sc|ext)_{w10-30}.acc-{w10-32}.{e30-120}
"""
