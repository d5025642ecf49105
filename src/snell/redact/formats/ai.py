"""Keys of model providers and of the services around them."""

TABLE = """
anthropic-key      sk-ant-{s20-200}
openai-key         sk-(proj|svcacct|admin|None)-{s20-200} sk-{w20}T3BlbkFJ{w20} sk-{w40-64}! sess-{w40}!
ai-key             sk-{h32}!
openrouter-key     sk-or-v1-{h64}
langfuse-key       (sk|pk)-lf-{u}
helicone-key       (sk|pk)-helicone-{s24-60}
langsmith-key      lsv2_(pt|sk)_{h32}_{h10} ls__{h32}
google-key         AIza{s35}! AQ.Ab{s40-60}
google-token       ya29.{s20-400} 1//0{s40-200} GOCSPX-{s28}
huggingface-token  hf_{w30-40}! api_org_{w30-40}!
replicate-token    r8_{w37}
groq-key           gsk_{w52}
xai-key            xai-{w70-90}
perplexity-key     pplx-{w40-60}
nvidia-key         nvapi-{s60-70}
tavily-key         tvly-{w30-40} tvly-(dev|prod)-{w30-40}
firecrawl-key      fc-{h32}!
fireworks-key      fw_{w22-32}! fpk_{w24-48}!
together-key       tgp_v1_{s40-50}
jina-key           jina_{h32}{s28}
pinecone-key       pcsk_{s40-80}
cerebras-key       csk-{l48}
elevenlabs-key     sk_{h48}!
voyage-key         pa-{s43}!
wandb-key          wandb_v1_{s60-90}
runpod-key         rpa_{U30-46}
e2b-key            e2b_{h40}
modal-key          (ak|as)-{w22}!
anyscale-key       esecret_{w20-40}
browserbase-key    bb_(live|test)_{s20-40}
letta-key          sk-let-{w40-200}
mem0-key           m0-{w36-40}!
zhipu-key          {h32}.{w16}!
rapidapi-key       {h10}msh{h15}p{h6}jsn{h12}!
friendli-token     flp_{w40-60}
brave-key          BSA{s28}!
kaggle-token       KGAT_{h32}
novita-key         sk_{w43}!
"""
