"""
What most providers call their keys, so that those of a provider nobody has heard of are found as well: its own name,
perhaps, then what it is, then what is random.
"""

TABLE = """
secret-key         ~sk(_|-|1_|2_){w24-200}! ~(secret|seckey|privkey)(_|-){w24-200}!
secret-key         ~{l2-14}(_|-)(sk|secret|seckey|privkey)(_|-){w20-200}!
api-key            ~(apikey|api_key|api-key)(_|-){w24-200}! ~{l2-14}(_|-)(apikey|api_key|api-key)(_|-){w20-200}!
access-token       ~(pat|tok|token|access_token)(_|-){w28-200}!
access-token       ~{l2-14}(_|-)(pat|tok|token|accesstoken|svctoken)(_|-){w20-200}!
live-key           ~{l2-14}(_|-)(live|prod)(_|-){w24-200}!
"""
