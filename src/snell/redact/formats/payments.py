"""Keys of payment, shop, shipping and crypto services."""

TABLE = """
stripe-key         (sk|rk|pk)_(live|test|prod)_{w10-250} whsec_{b24-90} sk_org_(live|test)_{w20-99}
shopify-token      shp(at|ca|pa|ss|ua|tka)_{h32}
square-token       sq0(atp|csp)-{s22-60} EAAA{s56-64}!
paypal-token       access_token$(production|sandbox)${l16}${h32}
adyen-key          AQE{b2}mf(x|y){b40-120}
plaid-token        access-(sandbox|development|production)-{u} public-(sandbox|production)-{u}
flutterwave-key    FLW(SECK|PUBK)_TEST-{l12-40}-X FLWSECK_TEST-{l12} FLWSECK_TEST{l12} FLW(SECK|PUBK)-{l20-40}-X
flutterwave-key    FLWSECK-{l20-40}
razorpay-key       rzp_(live|test)_{w14}
mollie-key         (live|test)_{w30}!
gocardless-token   live_{s40}!
duffel-token       duffel_(test|live)_{e43}
easypost-key       (EZAK|EZTK){w54}
shippo-token       shippo_(live|test)_{h40}
lob-key            (live|test)_{h35}! (live|test)_pub_{h31}
woocommerce-key    (ck|cs)_{h40}!
coinbase-key       organizations/{u}/apiKeys/{u}
paddle-key         pdl_(live|sdbx)_apikey_{w26}_{w22}_{w3} pdl_(ntfset|apikey)_{w26}_{w32}
revenuecat-key     sk_{A32}! atk_{w32}!
bitcoin-key        (xprv|yprv|zprv){w107}
chargebee-key      (live|test)_cd{w30-40}
conekta-key        key_(live|prod)_{w20-40}
xendit-key         xnd_(production|development)_{w40-80}
midtrans-key       (Mid|SB-Mid)-server-{s20-40}
mercadopago-token  (APP_USR|TEST)-{d12-20}-{d6}-{h32}-{d6-12}
branch-key         key_(live|test)_{w32} secret_live_{w32}
bitcoin-key        ~5(H|J|K){w49}!
"""
