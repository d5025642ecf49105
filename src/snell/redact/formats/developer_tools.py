"""Tokens of code hosts, package registries, build services and monitoring services."""

TABLE = """
github-token        gh(p|o|u|r)_{w30-255} ghs_{s30-400} github_pat_{w22}_{w30-90} github_pat_{w30-90} ghv_{w36-80}
gitlab-token        gl(pat|dt|rt|rtr|soat|wt)-{p20-110} gl(oas|agent)-{p40-110} glcbt-{w1-5}_{s20} glcbt-{s20}
gitlab-token        gl(ptt|ft|imt|ffct)-{s20-60} GR1348941{s20} glft-{h64}-{d1-8}
bitbucket-token     ATBB{w28-40}
atlassian-token     (ATATT3|ATCTT3){e60-400} ATOA{e60-400}
npm-token           npm_{w36}
pypi-token          pypi-AgE{s50-400}
rubygems-key        rubygems_{h48}
nuget-key           oy2{l43}!
crates-token        cio{w32}!
clojars-token       CLOJARS_{l60}
packagist-token     packagist_(uut|out|ack|aut)_{h60-90}
docker-token        dckr_(pat|oat)_{s24-40}
jfrog-token         AKCp{w60-80} AKC{w10-80} cmVmdGtuO{w50-70} AP(0|1|2|3|4|5|6|7|8|9|A|B|C|D|E|F){w8-90}!
circleci-token      CCI(PAT|PRJ)_{w20-24}_{h40}
buildkite-token     (bkua|bkat|bkaj|bkpt|bkct|bkps)_{w40-60}
snyk-token          snyk_(uat|sat).{h8}.{s60-200}
sonar-token         sq(p|u|a)_{h40}
sourcegraph-token   sgp_{h16}_{h40} sgp_local_{h40} sgp_{h40}! slk_{h64}
terraform-token     {w14}.atlasv1.{q50-80}
vault-token         hv(s|b|r).{s20-300} hv(s|b|r).{s20-60}.{s20-200}
vault-old-token     ~s.{w24}!
vault-batch-token   b.AAAAAQ{s100-300}
pulumi-token        pul-{h40}
doppler-token       dp.(pt|ct|sa|scim|audit|said).{w40-50} dp.st.{s2-36}.{w40-50} dp.st.{w40-50}
1password-token     ops_eyJ{e200-900} A3-{U6}-{U11}-{U5}-{U5}-{U5} A3-{U6}-{U6}-{U5}-{U5}-{U5}-{U5}
bitwarden-token     0.{u}.{w30}:{b22}==
infisical-token     st.{h24}.{h32-64}.{h32-64}
age-key             AGE-SECRET-KEY-1{U50-60} AGE-PLUGIN-{U3-20}-1{U30-80}
postman-key         PMAK-{h24}-{h34} PMAT-{U26}
octopus-key         API-{U25-27}!
prefect-key         pn(u|b)_{w36}
launchdarkly-key    (sdk|api|mob)-{u}!
harness-key         (pat|sat).{s22}.{h24}.{w20}
sentry-token        sntrys_eyJ{e60-400} sntryu_{h64} sntryi_{h64}
grafana-token       glsa_{w32}_{h8} glc_{b32-400} eyJrIjoi{b60-400}
newrelic-key        NRAK-{U27} (NRJS|NRAL|NRIQ)-{w19-36} NRII-{s32} NRAA-{h27} NRRA-{h42} {h36}(FFFF)NRAL
honeycomb-key       hc(a|b|x)(i|l|m)k_{w20-70}
axiom-token         xa(a|p)t-{u}
checkly-key         cu_{h32}!
linear-key          lin_api_{w40} lin_oauth_{h64}
wakatime-key        waka_{u}
dbt-token           dbt(c|u)_{s30-60}
apify-token         apify_api_{w36}
gitpod-token        gitpod_pat_{s40-120}
mergify-key         mka_{s40-60}
spacelift-key       spcl_{w26-60}
kong-token          (kpat|spat)_{w40-60}
rootly-key          rootly_{h64}
retool-token        retool_{w20-40}
metabase-key        mb_{b40-60}!
"""
