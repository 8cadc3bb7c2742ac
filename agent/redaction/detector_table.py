"""List the detectors: tokens of common services, keys, headers, URLs, command lines. Patterns only; `detectors` searches.

Patterns use bounded or single-class repeats only, so that no text can make them slow.
"""

from __future__ import annotations

from msgspec import Struct

_SCHEMES = "bearer|basic|token|digest|negotiate|apikey|aws4-hmac-sha256"
_HEADER = r"(?i:authorization)[\"']?\s{0,4}[:=]\s{0,4}[\"']?"
# What `word` asks, asked before the rest is read: else a long run of such beginnings is read to its end from each of them.
_JWT = r"eyJ(?:(?<![A-Za-z0-9]eyJ)|(?<=\\[abefnrtv]eyJ)|(?<=[0-9;\[][mK]eyJ))"


class Detector(Struct, frozen=True):
    """`kind` goes into the label. Where the pattern has a group, only that group is secret, else the whole match.

    `word`: it must not begin in the middle of a word. `any_case`: the anchors are lower-case and the case does not matter.
    `anywhere`: its anchor need not be near a run of 16 word characters. `also`: one of these must be in the text, too.
    """

    kind: str
    anchors: tuple[str, ...]
    pattern: str
    word: bool = False
    any_case: bool = False
    anywhere: bool = False
    also: tuple[str, ...] = ()


# A private key: its markers, and the lines of one whose end is missing (line ends may be escaped, as in JSON).
KEY_BEGIN = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
KEY_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
KEY_LINES = r"(?:(?:\s|\\[nr]){1,4}(?:[A-Za-z0-9+/]{16,200}={0,2}|[A-Za-z-]{4,20}: [^\n]{0,80})){0,400}"

DETECTORS: tuple[Detector, ...] = (
    Detector("private-key", ("-----BEGIN",), rf"{KEY_BEGIN}(?:(?s:.){{0,8000}}?{KEY_END}|{KEY_LINES}(?:\s[A-Za-z0-9+/]{{1,15}}={{1,2}})?)",
             anywhere=True),
    Detector("age-key", ("AGE-SECRET-KEY-",), r"AGE-SECRET-KEY-1[0-9A-Za-z]{20,}"),
    Detector("aws-key-id", ("AKIA", "ASIA", "AROA", "ABIA", "ACCA"), r"(?:AKIA|ASIA|AROA|ABIA|ACCA)[0-9A-Z]{16}(?![0-9A-Za-z])", word=True),
    Detector("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{16,}"),
    Detector("github-token", ("github_pat_",), r"github_pat_[A-Za-z0-9_]{20,}"),
    Detector("gitlab-token", ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glsoat-", "glft-", "glimt-", "glagent-"),
             r"gl(?:pat|dt|rt|cbt|ptt|soat|ft|imt|agent)-[A-Za-z0-9_-]{16,}"),
    Detector("slack-token", ("xox", "xapp-"), r"(?:xox[a-z]-|xoxe\.xox[bp]-|xapp-)[A-Za-z0-9-]{11,}"),
    Detector("slack-webhook", ("hooks.slack.com",), r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{10,})",
             anywhere=True),
    Detector("discord-webhook", ("/api/webhooks/",), r"discord(?:app)?\.com/api/webhooks/(\d{5,}/[A-Za-z0-9_-]{20,})", anywhere=True),
    Detector("telegram-token", (":AA",), r"\d{8,10}:AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])", word=True),
    Detector("anthropic-key", ("sk-ant-",), r"sk-ant-[A-Za-z0-9_-]{16,}"),
    Detector("openrouter-key", ("sk-or-",), r"sk-or-[A-Za-z0-9_-]{16,}"),
    Detector("openai-key", ("sk-",), r"sk-(?:proj-|svcacct-|admin-|None-)[A-Za-z0-9_-]{16,}"),
    Detector("openai-key", ("sk-",), r"sk-(?=[A-Za-z_-]{0,60}\d)[A-Za-z0-9]{20,}", word=True),
    Detector("stripe-key", ("_live_", "_test_"), r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}"),
    Detector("webhook-secret", ("whsec_",), r"whsec_[A-Za-z0-9+/=]{16,}", word=True, anywhere=True),
    Detector("google-key", ("AIza",), r"AIza[A-Za-z0-9_-]{30,}"),
    Detector("google-token", ("ya29.", "GOCSPX-"), r"(?:ya29\.|GOCSPX-)[A-Za-z0-9_.-]{20,}", word=True),
    Detector("npm-token", ("npm_",), r"npm_[A-Za-z0-9]{30,}"),
    Detector("pypi-token", ("pypi-Ag",), r"pypi-Ag[A-Za-z0-9_-]{20,}"),
    Detector("cargo-token", ("cio",), r"cio[A-Za-z0-9]{32}(?![A-Za-z0-9])", word=True),
    Detector("rubygems-token", ("rubygems_",), r"rubygems_[a-f0-9]{40,}", word=True),
    Detector("huggingface-token", ("hf_", "api_org_"), r"(?:hf_|api_org_)[A-Za-z0-9]{30,}", word=True),
    Detector("groq-key", ("gsk_",), r"gsk_[A-Za-z0-9]{20,}", word=True),
    Detector("xai-key", ("xai-",), r"xai-[A-Za-z0-9]{40,}", word=True),
    Detector("replicate-token", ("r8_",), r"r8_[A-Za-z0-9]{30,}", word=True),
    Detector("digitalocean-token", ("_v1_",), r"do[opr]_v1_[a-f0-9]{40,}"),
    Detector("docker-token", ("dckr_pat_", "dckr_oat_"), r"dckr_[po]at_[A-Za-z0-9_-]{20,}"),
    Detector("vault-token", ("hvs.", "hvb.", "hvr."), r"hv[sbr]\.[A-Za-z0-9_-]{20,}", word=True),
    Detector("doppler-token", ("dp.",), r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{20,}", word=True),
    Detector("linear-key", ("lin_api_", "lin_oauth_"), r"lin_(?:api|oauth)_[A-Za-z0-9]{20,}", word=True),
    Detector("notion-token", ("ntn_",), r"ntn_[A-Za-z0-9]{30,}", word=True),
    Detector("atlassian-token", ("ATATT3", "ATCTT3"), r"AT[AC]TT3[A-Za-z0-9_=.-]{20,}", word=True),
    Detector("shopify-token", ("shp",), r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}", word=True),
    Detector("sendgrid-key", ("SG.",), r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", word=True),
    Detector("mailgun-key", ("key-",), r"key-[a-f0-9]{32}(?![A-Za-z0-9])", word=True),
    Detector("twilio-key", ("SK",), r"SK[a-f0-9]{32}(?![A-Za-z0-9])", word=True),
    Detector("newrelic-key", ("NRAK-",), r"NRAK-[A-Z0-9]{20,}", word=True),
    Detector("grafana-token", ("glc_", "glsa_"), r"gl(?:c|sa)_[A-Za-z0-9_+/=]{20,}", word=True),
    Detector("sentry-token", ("sntrys_", "sntryu_"), r"sntry[su]_[A-Za-z0-9_+/=-]{20,}", word=True),
    Detector("databricks-token", ("dapi",), r"dapi[a-f0-9]{32}", word=True),
    Detector("pulumi-token", ("pul-",), r"pul-[a-f0-9]{40}", word=True),
    Detector("tailscale-key", ("tskey-",), r"tskey-[a-z]{2,10}-[A-Za-z0-9-]{12,}", word=True),
    Detector("fly-token", ("fm1", "fm2"), r"fm[12][ar]?_[A-Za-z0-9+/=_-]{40,}", word=True, anywhere=True),
    Detector("azure-key", ("accountkey=", "sharedaccesskey="), r"(?i:AccountKey|SharedAccessKey)=([A-Za-z0-9+/=]{20,})", any_case=True),
    Detector("azure-signature", ("sig=",), r"[?&]sig=([A-Za-z0-9%+/=_-]{30,})", anywhere=True),
    Detector("aws-signature", ("x-amz-",), r"(?i:X-Amz-(?:Signature|Security-Token))=([A-Za-z0-9%+/=_-]{16,})", any_case=True),
    Detector("jwt", ("eyJ",), _JWT + r"[A-Za-z0-9_-]{8,1000}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?(?:\.[A-Za-z0-9_-]+){0,2}",
             word=True, anywhere=True),
    Detector("url-password", ("://",), r"(?<=[A-Za-z0-9])://[^\s/:@'\"<>]{0,200}:([^\s/'\"<>]{1,500})@(?=[A-Za-z0-9\[])",
             anywhere=True, also=("@",)),
    Detector("url-token", ("://",), r"(?<=[A-Za-z0-9])://([A-Za-z0-9_-]{20,})@(?=[A-Za-z0-9])", anywhere=True, also=("@",)),
    Detector("authorization", ("authorization",), rf"{_HEADER}(?i:{_SCHEMES})\s{{1,4}}([^\s\"',;\\][^\"'\r\n\\]{{2,2000}})", any_case=True),
    Detector("authorization", ("authorization",), rf"{_HEADER}(?!(?i:{_SCHEMES})\b)([A-Za-z0-9_.+/=-]{{16,}})", any_case=True),
    Detector("bearer-token", ("bearer ",), r"(?i:\bbearer) {1,4}([A-Za-z0-9_.+/~=-]*\d[A-Za-z0-9_.+/~=-]*)(?<=.{20})", any_case=True),
    Detector("cookie", ("cookie",), r"(?i:\b(?:set-)?cookie) {0,2}: {0,4}([^\r\n\"']{1,4000})", any_case=True),
    Detector("netrc", ("login",), r"(?i:\blogin)\s{1,20}\S{1,200}\s{1,20}(?i:password)\s{1,20}(\S{1,500})", any_case=True),
    Detector("curl-user", ("-u", "--proxy-u"),
             r"(?:^|\s)(?:-u|--user|--proxy-user)(?:\s{1,4}|=)?[\"']?[^\s:\"'=-][^\s:\"']{0,100}:([^\s\"']{1,500})",
             anywhere=True, also=("curl", "wget", "http")),
    Detector("sshpass", ("sshpass",), r"\bsshpass\s{1,4}-p\s{0,4}[\"']?([^\s\"']{1,500})", anywhere=True),
    Detector("mysql-password", ("mysql", "mariadb"),
             r"\b(?:mysql|mariadb)[a-z_-]{0,12}(?:\s{1,4}(?!-p)\S{1,200}){0,8}\s{1,4}-p[\"']?([^\s\"';|&)]{3,500})", anywhere=True),
    Detector("docker-auth", ("\"auth\"",), r"\"auth\"\s{0,4}:\s{0,4}\"([A-Za-z0-9+/=]{8,})\"", anywhere=True),
    Detector("password-hash", ("$1$", "$2", "$5$", "$6$", "$7$", "$y$", "$gy$", "$apr1$", "$argon2"),
             r"\$(?:1|2[abxy]|5|6|7|y|gy|apr1|argon2(?:id|i|d))\$[A-Za-z0-9./$=,+-]{20,}", anywhere=True),
    Detector("figma-token", ("figd_",), r"figd_[A-Za-z0-9_-]{30,}", word=True),
    Detector("postman-key", ("PMAK-",), r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}", word=True),
    Detector("planetscale-token", ("pscale_",), r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{24,}", word=True),
    Detector("supabase-key", ("sbp_", "sb_secret_"), r"(?:sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,})", word=True),
    Detector("netlify-token", ("nfp_",), r"nfp_[A-Za-z0-9]{30,}", word=True),
    Detector("heroku-key", ("HRKU-",), r"HRKU-[A-Za-z0-9_-]{36,}", word=True),
    Detector("cloudflare-key", ("v1.0-",), r"v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}", word=True, anywhere=True),
    Detector("square-token", ("sq0",), r"sq0(?:atp|csp)-[A-Za-z0-9_-]{20,}", word=True),
    Detector("terraform-token", (".atlasv1.",), r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40,}", word=True),
    Detector("airtable-token", ("pat",), r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}", word=True),
    Detector("hubspot-token", ("pat-",), r"pat-(?:na|eu)\d-[a-f0-9-]{36}", word=True),
    Detector("perplexity-key", ("pplx-",), r"pplx-[A-Za-z0-9]{30,}", word=True),
    Detector("nvidia-key", ("nvapi-",), r"nvapi-[A-Za-z0-9_-]{40,}", word=True),
    Detector("langsmith-key", ("lsv2_",), r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}", word=True),
    Detector("together-key", ("tgp_v1_",), r"tgp_v1_[A-Za-z0-9_-]{30,}", word=True),
    Detector("azure-client-secret", ("8Q~",), r"[A-Za-z0-9_~.-]{3}8Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~-])"),
    Detector("artifactory-key", ("AKCp",), r"AKCp[A-Za-z0-9]{60,}", word=True),
    Detector("facebook-token", ("EAA",), r"EAA[A-Za-z0-9]{80,}", word=True),
    Detector("twitter-token", ("AAAAAAAAAA",), r"(?<!A)A{18,24}[A-Za-z0-9%]{60,100}(?![A-Za-z0-9+/=])", word=True),
    Detector("alibaba-key-id", ("LTAI",), r"LTAI[A-Za-z0-9]{12,20}(?![A-Za-z0-9])", word=True),
    Detector("tencent-key-id", ("AKID",), r"AKID[A-Za-z0-9]{32}(?![A-Za-z0-9])", word=True),
    Detector("nuget-key", ("oy2",), r"oy2[a-z0-9]{43}(?![A-Za-z0-9])", word=True),
    Detector("sonar-token", ("sqp_", "squ_", "sqa_"), r"sq[upa]_[a-f0-9]{40}", word=True),
    Detector("buildkite-token", ("bkua_", "bkat_"), r"bk(?:ua|at)_[a-f0-9]{30,}", word=True),
    Detector("circleci-token", ("CCIPAT_", "CCIPRJ_"), r"CCIP(?:AT|RJ)_[A-Za-z0-9_]{30,}", word=True),
    Detector("onepassword-token", ("ops_eyJ",), r"ops_eyJ[A-Za-z0-9+/_-]{40,}={0,2}", word=True),
    Detector("mailchimp-key", ("-us",), r"[a-f0-9]{32}-us\d{1,2}(?![A-Za-z0-9])", word=True),
    Detector("brevo-key", ("xkeysib-",), r"xkeysib-[a-f0-9]{40,}-[A-Za-z0-9]{16}", word=True),
    Detector("resend-key", ("re_",), r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}", word=True),
    Detector("contentful-token", ("CFPAT-",), r"CFPAT-[A-Za-z0-9_-]{40,}", word=True),
    Detector("prefect-key", ("pnu_",), r"pnu_[A-Za-z0-9]{36}", word=True),
    Detector("readme-key", ("rdme_",), r"rdme_[a-z0-9]{60,}", word=True),
    Detector("typeform-token", ("tfp_",), r"tfp_[A-Za-z0-9_=.-]{40,}", word=True),
    Detector("plaid-token", ("access-",), r"access-(?:sandbox|development|production)-[a-f0-9-]{36}", word=True),
    Detector("dropbox-token", ("sl.",), r"sl\.(?:u\.)?[A-Za-z0-9_-]{80,}", word=True),
    Detector("flutterwave-key", ("FLWSECK",), r"FLWSECK(?:_TEST)?-[A-Za-z0-9-]{12,}", word=True),
    Detector("launchdarkly-key", ("api-", "sdk-"), r"(?:api|sdk)-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}", word=True),
    Detector("discord-token", ("M", "N", "O"),
             r"[MNO][A-Za-z0-9]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_-]|\.[A-Za-z0-9])", word=True),
    Detector("putty-key", ("Private-Lines:",), r"Private-Lines: \d{1,4}\s{1,4}((?:[A-Za-z0-9+/=]{4,80}\s{0,4}){1,200})", anywhere=True),
    Detector("password-hash", ("SHA}", "SHA256}", "SHA512}"), r"\{S?SHA(?:256|512)?\}[A-Za-z0-9+/]{20,}={0,2}", anywhere=True),
    Detector("password-hash", (":::",), r":\d{1,9}:((?:[a-fA-F0-9]{32}|NO PASSWORD\*{0,22}):[a-fA-F0-9]{32}):::", anywhere=True),
    Detector("cli-password", ("docker login", "podman login", "buildah login", "nerdctl login", "registry login", "az login"),
             r"\b(?:docker|podman|buildah|nerdctl|az|helm registry) login\b[^\n|;&]{0,300}?\s-p[ =]{0,2}[\"']?([^\s\"'$-][^\s\"']{0,500})",
             anywhere=True),
    Detector("cli-password", ("redis-cli", "ldapsearch", "ldapmodify", "ldapadd", "ldapwhoami", "mongosh"),
             r"\b(?:redis-cli\b[^\n|;&]{0,300}?\s-a|ldap[a-z]{3,8}\b[^\n|;&]{0,300}?\s-w|mongosh\b[^\n|;&]{0,300}?\s-p)"
             r"\s{1,4}[\"']?([^\s\"'$-][^\s\"']{0,500})",
             anywhere=True),
    Detector("cli-password", ("smbclient", "mount.cifs", "rpcclient", "smbmap"),
             r"\b(?:smbclient|mount\.cifs|rpcclient|smbmap)\b[^\n|;&]{0,300}?[\s=][\"']?[\w.\\/-]{1,64}%([^\s\"'%]{1,500})", anywhere=True),
    Detector("cli-password", ("chpasswd",),
             r"[\w.-]{1,32}:([^\s\"'|:]{3,200})(?:\\n)?[\"']?\s{0,4}\|\s{0,4}(?:sudo\s{1,4})?(?:/usr)?(?:/sbin/)?chpasswd", anywhere=True),
    Detector("cli-password", ("sudo -S",),
             r"\b(?:echo|printf)\s{1,4}(?:-n\s{1,4}|[\"']?%s(?:\\n)?[\"']?\s{1,4})?"
             r"[\"']?([^\s\"'|$][^\s\"'|]{2,200})[\"']?\s{0,4}\|\s{0,4}sudo -S",
             anywhere=True),
    Detector("cli-password", ("aws configure set", "npm config set", "yarn config set", "pnpm config set", "git config"),
             r"\b(?:aws configure set|(?:npm|yarn|pnpm) config set|git config)\b[^\n|;&]{0,60}?\s"
             r"[\w.:/@-]{0,80}(?i:secret|token|passw|_auth)[\w.-]{0,40}[\s=]{1,4}[\"']?([^\s\"'$-][^\s\"']{5,500})", anywhere=True),
    Detector("cli-password", ("htpasswd",),
             r"\bhtpasswd\s(?=[^\n|;&]{0,40}-[a-zA-Z]{0,6}b)[^\n|;&]{0,200}?\s[\w.@-]{1,64}\s{1,4}"
             r"[\"']?([^\s\"'$|;&-][^\s\"'|;&]{2,200})[\"']?(?=\s{0,4}(?:$|[\n|;&>]))", anywhere=True),
    Detector("cli-password", ("<<<",),
             r"(?i:passw\w{0,20}|passphrase|secret|token|--(?:password-)?stdin|sudo -S)[^\n|;&<]{0,100}<<<\s{0,4}"
             r"[\"']?([^\s\"'$|;&][^\s\"'|;&]{3,200})", anywhere=True),
    Detector("cookie", ("curl", "wget"), r"\b(?:curl|wget)\b[^\n|;]{0,300}?\s(?:-b|--cookie)[ =]{0,2}[\"']?([\w.-]{1,64}=[^\s\"']{8,2000})",
             anywhere=True, also=("-b", "--cookie")),
    Detector("pgpass", (":5432:", ":*:"), r"(?m:^)[\w.*-]{1,100}:(?:5432|\*):[\w.*-]{1,64}:[\w.*-]{1,64}:(\S{3,200})(?m:$)", anywhere=True),
    Detector("cli-password", ("pass:",), r"(?:-pass(?:in|out)?|-k)\s{1,4}[\"']?pass:([^\s\"'$][^\s\"']{2,500})", anywhere=True),
)  # fmt: skip
