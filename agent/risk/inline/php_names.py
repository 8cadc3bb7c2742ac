"""What PHP code may use and still be harmless: names that only compute, read or print, whatever they are given."""

from agent.risk.inline.reading import words

KEYWORDS = words(
    """
    and array as bool boolean break case catch const continue default die do echo else elseif empty endfor endforeach endif endwhile
    exit false finally float fn for foreach function global if instanceof int integer isset list match mixed null object or print
    return static string switch throw true try unset use void while xor
    """
)
FUNCTIONS = words(
    """
    abs addslashes array_chunk array_column array_combine array_count_values array_diff array_fill array_flip array_intersect
    array_key_exists array_key_first array_key_last array_keys array_merge array_pad array_pop array_product array_push
    array_reverse array_search array_shift array_slice array_splice array_sum array_unique array_unshift array_values arsort asort
    base64_decode base64_encode base_convert basename bcadd bcdiv bcmul bcpow bcsub bin2hex bindec boolval ceil checkdate chop chr
    class_exists compact cos count crc32 ctype_alpha ctype_digit ctype_lower ctype_upper date date_default_timezone_get decbin
    dechex decoct defined dirname exp explode extension_loaded fclose feof fgetc fgetcsv fgets file_exists filemtime filesize
    floatval floor fmod fread fscanf function_exists get_current_user get_loaded_extensions getcwd gethostname getmypid gettype glob
    gmdate hash hash_algos hex2bin hexdec hrtime html_entity_decode htmlentities htmlspecialchars http_build_query iconv implode
    in_array inet_pton ini_get intdiv intval ip2long is_array is_bool is_dir is_file is_float is_int is_null is_numeric is_readable
    is_string join json_decode json_encode json_last_error_msg krsort ksort lcfirst lcg_value levenshtein log long2ip ltrim max
    mb_str_split mb_strlen mb_strpos mb_strtolower mb_strtoupper mb_substr md5 memory_get_peak_usage memory_get_usage metaphone
    microtime min mktime mt_rand mt_srand nl2br number_format octdec openssl_get_cipher_methods ord parse_url password_hash
    password_verify pathinfo php_ini_loaded_file php_ini_scanned_files php_sapi_name php_uname phpversion pi pow preg_grep
    preg_match preg_match_all preg_quote preg_split print_r printf rand random_bytes random_int range rawurldecode rawurlencode
    realpath round rsort rtrim scandir serialize sha1 shuffle similar_text sin sizeof sleep sort soundex sprintf sqrt srand
    str_contains str_ends_with str_getcsv str_ireplace str_pad str_repeat str_replace str_split str_starts_with str_word_count
    strcasecmp strcmp stream_get_contents stream_get_line strip_tags stripos stripslashes stristr strlen strnatcmp strncmp strpos
    strrchr strrev strrpos strstr strtolower strtotime strtoupper strval substr substr_count sys_get_temp_dir tan time trim ucfirst
    ucwords uniqid urldecode urlencode usleep utf8_decode utf8_encode var_dump var_export vprintf vsprintf wordwrap zend_version
    """
)
METHODS = words(
    """
    add diff format gettimestamp gettimezone modify settimezone sub
    """
)
CLASSES = words(
    """
    dateinterval datetime datetimeimmutable datetimezone exception stdclass
    """
)
RESERVED = words(
    "include include_once require require_once use namespace class trait interface goto clone yield declare new eval extends"
)
