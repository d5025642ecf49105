"""Tokens of chat, mail, telephone and social networks, and webhook addresses that are secrets themselves."""

TABLE = """
slack-token        xox(a|b|e|o|p|r|s)-{d10-14}-{s8-200} xox(a|b|o|p|r|s)-{d1}-{s20-200}
slack-token        xox(e|e.xoxb|e.xoxp)-{d1}-{s20-300} xoxd-{e20-300} xoxc-{d10-14}-{s8-200}
slack-token        xapp-{d1}-{U8-14}-{d8-16}-{l20-80} xwfp-{s20-200}
slack-token        xox(b|p|s|o)-{d10-14}-{d10-14}-{d10-14}-{s20-64} xox(o|s)-{d1-12}-{d1-12}-{d1-12}-{h8-64}
slack-token        xoxb-{d8-14}-{w18-26} xox(a|r)-{d1}-{w8-48} xox(a|r)-{w12-48}
slack-webhook      hooks.slack.com/(services|workflows|triggers)/{e20-120}
discord-token      (M|N|O){s22-28}.{s6}.{s27-40}
discord-webhook    (discord|discordapp).com/api/webhooks/{d17-20}/{s60-72}
teams-webhook      webhook.office.com/webhookb2/{u}@{u}/IncomingWebhook/{w32}/{u}
teams-webhook      .logic.azure.com:443/workflows/{h32}/
feishu-webhook     open.(feishu|larksuite).(cn|com)/open-apis/bot/v2/hook/{u}
zapier-webhook     hooks.zapier.com/hooks/catch/{d4-10}/{w6-12}
wecom-webhook      qyapi.weixin.qq.com/cgi-bin/webhook/send?key={u}
telegram-token     {d8-10}:A{s34}!
sendgrid-key       SG.{s16-32}.{s30-60}
mailgun-key        (key|pubkey)-{h32}! {h32}-{h8}-{h8}!
mailchimp-key      {h32}-us{d1-2}!
mandrill-key       md-{s22}!
brevo-key          (xkeysib|xsmtpsib)-{h64}-{w16}
resend-key         re_{w8}_{w20-26}! re_{w30-40}!
facebook-token     EAA(M|C|G|H|J|D|B|I){w60-300} {d15-16}|{s27}!
instagram-token    (IGQVJ|IGQWR|IGAA){s60-300}
twitter-token      AAAAAAAAAAAAAAAAAAAA{p22-300} AAAAAAAAAAAAAAAAAAAA{w10-60}%
linkedin-token     WPL_AP(0|1|2).{w16}.{b6}== (AQV|AQX){s60-400}
intercom-token     dG9rO{b48-80}
hubspot-token      pat-(na1|na2|eu1|ap1)-{u}
typeform-token     tfp_{p40-70}
vk-token           vk1.a.{s80-220}
twitch-token       oauth:{l30}!
line-token         {b140-180}/1O/w1cDnyilFU=
onesignal-key      os_v2_(app|org)_{l40-120}
pubnub-key         sec-c-{b40-60}
ably-key           {s6}.{s6}:{s43}!
klaviyo-key        pk_{h34}!
courier-key        pk_(prod|test)_{U28}
knock-key          sk_knock_{w30-60}
whatsapp-token     EAAG{w60-300}
beamer-key         b_{e44}!
clearbit-key       sk_{h32}!
close-key          api_{w22}.{w22}
apollo-key         service:{s3-40}:{s22}! user:gh.{s3-40}:{s22}!
firebase-key       {s7-24}:APA91b{s100-160}
mailersend-key     mlsn.{h60-68}
"""
