"""Tell statements and client commands that only read from all others, by lists of what is known to read.

Covers SQL of the common servers, commands of psql, mysql and sqlite3, and the JavaScript of mongosh. A statement that begins with
another word, or that calls a function that is not listed, may change something.
"""

from __future__ import annotations

import re

_PIECE = (
    r"(?P<text>{text}|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)"
    r"|(?P<name>\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[\w ]+\])|(?P<note>--[^\n]*|/\*(?!M?!).*?\*/)"
)
_STANDARD = re.compile(_PIECE.format(text=r"'(?:[^']|'')*'"), re.S)
_ESCAPING = re.compile(_PIECE.format(text=r"'(?:\\.|[^'\\]|'')*'"), re.S)

_FIRST_WORDS = """select with show describe desc explain values table use help begin start commit rollback end
savepoint release match optional return unwind from summarize list go quit exit status print echo prompt"""
_FUNCTION_NAMES = """count sum avg min max total group_concat string_agg array_agg json_agg jsonb_agg json_object_agg
jsonb_object_agg bool_and bool_or every stddev stddev_pop stddev_samp variance var_pop var_samp corr
percentile_cont percentile_disc mode median row_number rank dense_rank percent_rank cume_dist ntile lag lead
first_value last_value nth_value grouping abs ceil ceiling floor round sign sqrt power pow exp ln log log10 log2
mod div trunc truncate random rand pi sin cos tan asin acos atan atan2 degrees radians greatest least width_bucket
length char_length character_length octet_length bit_length lower upper initcap trim ltrim rtrim btrim lpad rpad
left right substr substring position instr locate strpos replace translate reverse repeat concat concat_ws format
split_part regexp_replace regexp_matches regexp_match regexp_like regexp_substr regexp_split_to_table
regexp_split_to_array quote quote_ident quote_literal quote_nullable ascii chr char unicode hex unhex md5 sha1
sha2 sha256 crc32 encode decode to_base64 from_base64 soundex printf like glob coalesce nullif ifnull isnull nvl
if iif case cast convert try_cast typeof pg_typeof to_char to_date to_timestamp to_number date time datetime
julianday unixepoch strftime timediff now current_timestamp current_date current_time localtime clock_timestamp
statement_timestamp transaction_timestamp curdate curtime sysdate getdate utc_timestamp date_trunc date_part
extract age make_date make_interval interval date_add date_sub datediff timestampdiff timestampadd dateadd
date_format str_to_date from_unixtime unix_timestamp year month day hour minute second week quarter dayofweek
dayofyear weekday last_day dayname monthname json json_extract json_value json_query json_object json_array
json_each json_tree json_type json_valid json_array_length json_group_array json_group_object json_keys
json_length json_contains json_unquote json_build_object jsonb_build_object json_build_array to_json to_jsonb
row_to_json json_each_text jsonb_each jsonb_each_text jsonb_array_elements json_array_elements
jsonb_array_elements_text json_object_keys jsonb_object_keys jsonb_path_query jsonb_pretty array unnest
array_length array_to_string string_to_array cardinality array_position any_value generate_series version
sqlite_version database schema user current_user session_user current_database current_schema current_schemas
current_setting connection_id last_insert_rowid changes total_changes found_rows row_count inet_server_addr
inet_server_port inet_client_addr pg_backend_pid pg_is_in_recovery pg_postmaster_start_time pg_conf_load_time
pg_blocking_pids pg_current_wal_lsn pg_last_wal_receive_lsn pg_last_wal_replay_lsn pg_last_xact_replay_timestamp
pg_wal_lsn_diff pg_relation_filepath pg_encoding_to_char pg_table_is_visible obj_description col_description
shobj_description has_table_privilege has_database_privilege has_schema_privilege format_type to_regclass bin oct
conv bit_count bit_and bit_or uuid gen_random_uuid newid uniq uniqexact topk quantile quantiles arrayjoin todate
todatetime tostartofhour tostartofday tostring toint32 toint64 tofloat64 formatreadablesize read_csv read_csv_auto
read_parquet read_json read_json_auto len isdate isnumeric stuff charindex patindex datename datepart eomonth
string_split object_id object_name db_name db_id id type labels nodes relationships keys properties size collect
range tostringornull tointeger tofloat head last in values and or not as on over using filter exists any all some
from join where having by when then else select union except intersect distinct limit between within group
partition is with match return set top lateral ordinality materialized recursive"""
_FUNCTIONS = frozenset(_FUNCTION_NAMES.split())
_SHOWS = re.compile(
    r"pg_(?:get_\w+|\w+_size(?:_pretty)?|size_pretty|stat_get_\w+|describe_\w+|identify_\w+)|st_\w+|(?:timestamp|datetime|date|time)_(?:add|sub|diff|trunc|bucket)|"
    r"safe_cast|(?:parse|format|approx|array|regexp|jsonb?|string|list|arg)_\w+|varchar|char|numeric|decimal|float"
)
_CALL = re.compile(r"([A-Za-z_][\w.]*)\s*\(")
_PRAGMAS = """table_info table_xinfo table_list index_list index_info index_xinfo foreign_key_list foreign_key_check
database_list integrity_check quick_check user_version schema_version page_count page_size freelist_count encoding
journal_mode foreign_keys compile_options function_list module_list collation_list cache_size auto_vacuum
synchronous busy_timeout application_id data_version"""
_HARMLESS_SETTINGS = re.compile(
    r"(?:foreign_keys|busy_timeout|query_only|case_sensitive_like|cache_size|temp_store)\s*=.*", re.S
)
_SETS = re.compile(
    r"set\s+(?:@\w+|names|(?:session\s+|local\s+)?(?:search_path|statement_timeout|timezone|time\s+zone|lock_timeout|work_mem))\b.*",
    re.S,
)

_DOT_COMMANDS = """tables schema indexes indices databases dbinfo show help headers mode width separator nullvalue
timer stats echo explain eqp changes bail quit exit print prompt fullschema vfslist vfsinfo vfsname version dump
sha3sum timeout binary maxrows maxwidth columns rows"""
_BACKSLASHED = re.compile(
    r"d[\w+]*|l[+]?|list[+]?|z|x|timing|conninfo|encoding|echo|qecho|warn|pset|a|t|C|f|H|h|help|\?|q|c|connect|p|r|s[fv][+]?|if|elif|else|endif|"
    r"watch|gx?|gdesc|crosstabview|errverbose|set|unset|u|s|G|copyright"
)
_CLIENT_COMMAND = re.compile(r"\\(?P<slash>[A-Za-z?!.]\w*[+]?)|(?:^|\n)[ \t]*\.(?P<dot>[A-Za-z]\w*)")

_MONGO_METHODS = """find findone count countdocuments estimateddocumentcount distinct aggregate explain sort limit
skip projection pretty toarray foreach map stats datasize storagesize totalsize totalindexsize getindexes
getcollectionnames getcollectioninfos getcollection getsiblingdb getname getmongo getdbnames getdbs hello ismaster
serverstatus status conf config printreplicationinfo printsecondaryreplicationinfo printshardingstatus currentop
version getusers getuser getroles getrole hostinfo buildinfo getreplicationinfo latencystats hasnext next size
itcount hint maxtimems batchsize readpref collation comment allowdiskuse print printjson tojson stringify objectid
isodate date numberlong numberint numberdecimal uuid listdatabases serverbuildinfo getlogcomponents length join
keys values entries tostring push filter indexof includes slice concat tofixed if for while function return"""
_MONGO_CALLS = frozenset(_MONGO_METHODS.split())
_MONGO_ASKS = re.compile(
    r"\b(?:runCommand|adminCommand)\s*\(\s*\{?\s*['\"]?(?:ping|listDatabases|serverStatus|hello|isMaster|buildInfo|dbStats|collStats|"
    r"connectionStatus|listCollections|replSetGetStatus|getParameter|hostInfo|currentOp|top|count|find|distinct)\b",
    re.I,
)


def bare_statements(text: str) -> list[str]:
    """The text without its strings and notes, as each server would read it: a backslash escapes a quote, or does not."""
    forms = (_STANDARD, _ESCAPING) if "\\" in text else (_STANDARD,)
    return [
        form.sub(
            lambda found: "''" if found["text"] else "_" if found["name"] else " ",
            text.replace("/*!", " ").replace("/*M!", " "),
        )
        for form in forms
    ]


def not_understood(text: str) -> str:
    """The first statement, function or command of a client that is not known to read; "" where all are."""
    for bare in bare_statements(text):
        for found in _CLIENT_COMMAND.finditer(bare):
            if found["slash"] and not _BACKSLASHED.fullmatch(found["slash"]):
                return found[0].strip()
            name = (found["dot"] or "").lower()
            if name and not (len(name) > 2 and any(known.startswith(name) for known in _DOT_COMMANDS.split())):
                return found[0].strip()
        rest = re.sub(r"\\[A-Za-z?][^\n\\]*|(?m:^)[ \t]*\.[A-Za-z][^\n]*", ";", bare)
        for statement in rest.split(";"):
            if reason := _statement(statement.strip(" \n\t\r\0").lstrip("( \n\t")):
                return reason
    return ""


def _statement(text: str) -> str:
    """What of a statement is not known to read."""
    first = re.match(r"\w+", text)
    if first is None:
        return text[:30]
    word = first[0].lower()
    if word == "pragma":
        return _pragma(text[6:].strip())
    if word == "set" and _SETS.fullmatch(text.lower()):
        return ""
    if word not in _FIRST_WORDS.split():
        return first[0][:30]
    if re.search(r"\binto\b", text, re.I):
        return "into"
    named = {
        name.lower()
        for name in re.findall(r"(?:\bwith\s+(?:recursive\s+)?|,\s*)(\w+)\s*\([^()]*\)\s*as\s*\(", text, re.I)
    }
    for name in _CALL.findall(text):
        if (
            name.lower().removeprefix("pg_catalog.") not in _FUNCTIONS
            and name.lower() not in named
            and not _SHOWS.fullmatch(name.lower())
        ):
            return f"{name[:30]}()"
    return ""


def _pragma(text: str) -> str:
    name = re.match(r"\w+", text.rpartition(".")[2] if "(" not in text else text)
    listed = name is not None and name[0].lower() in _PRAGMAS.split() and "=" not in text
    return "" if listed or _HARMLESS_SETTINGS.fullmatch(text.lower()) else f"pragma {text[:20]}"


def mongo_not_understood(text: str) -> str:
    """The first call of JavaScript for mongosh that is not known to read; "" where all are."""
    asked = _MONGO_ASKS.sub("print(", text)
    bare = re.sub(r"'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|//[^\n]*|/\*.*?\*/", "''", asked, flags=re.S)
    if found := re.search(r"\$(?:out|merge|function|accumulator)\b", text):
        return found[0]
    if re.search(r"[\])]\s*\(|\$\{|`|\bimport\b", bare):
        return "a call by a computed name"
    for name in re.findall(r"([\w$]+)\s*\(", bare):
        if name.lower() not in _MONGO_CALLS:
            return f"{name[:30]}()"
    return ""
