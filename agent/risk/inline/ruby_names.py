"""Names that Ruby code may use and still be harmless: they only compute, read or print, whatever they are given."""

from agent.risk.inline.reading import listed, words

KEYWORDS = words(
    """
    and BEGIN begin break case def defined? do else elsif END end ensure false for if in lambda loop next nil not or p pp print
    printf proc puts rescue return self then true unless until when while yield
    """
)
FUNCTIONS = words(
    """
    __FILE__ __method__ abort Array block_given? catch chomp Complex exit Float format gets gsub Hash Integer lambda loop p pp print
    printf proc putc puts raise rand Rational readline readlines sleep sprintf srand String sub throw
    """
)
METHODS = words(
    """
    =~ abs add all? any? append begin between? bytes bytesize call capitalize captures casecmp casecmp? ceil center chars
    chomp chop chr chunk_while clamp clone close collect combination compact concat count cycle day default delete delete_if
    denominator detect dig digits div divmod downcase downto drop drop_while dup each each_byte each_char each_cons each_entry
    each_key each_line each_pair each_slice each_value each_with_index each_with_object empty? encode end_with? entries eof? eql?
    equal? even? fetch filter filter_map find find_index first flat_map flatten floor force force_encoding format freeze gcd gets
    group_by gsub gsub! has_key? hash hex hexdigest host hour imaginary include? index inject insert inspect invert is_a? iso8601
    itself join keep_if key key? keys kind_of? last lazy lcm length lineno lines ljust lstrip map match match? max max_by member?
    merge message min min_by minmax modulo month name named_captures negative? new next nil? none? numerator oct odd? one? ord pack
    partition path permutation pop port positive? post_match pow pre_match pred prepend presence print product push puts query read
    readline readlines real reduce reject respond_to? reverse reverse_each rewind rindex rjust rotate round rstrip sample scan
    scheme sec select shift shuffle size size? slice slice! slice_when sort sort_by split sqrt squeeze start_with? step strftime
    strip sub sub! succ sum swapcase take take_while tally tap then times to_a to_c to_date to_f to_h to_i to_json to_r to_s to_set
    to_time tr transform_keys transform_values transpose unicode_normalize uniq unpack unpack1 unshift upcase update upto value?
    values values_at wday with_index with_object yday year zero? zip
    """
)
MEMBERS = listed(
    """
    File: SEPARATOR absolute_path atime basename ctime directory? dirname executable? exist? expand_path extname file? foreach
     join mtime open read readable? readlines size size? stat symlink? zero?
    Dir: children each_child entries exist? getwd glob home pwd
    JSON: dump generate parse pretty_generate
    Time: at gm mktime new now parse utc
    Date: new parse strptime today valid_date?
    DateTime: now parse
    Math: E PI atan atan2 cbrt cos exp floor hypot log log10 log2 pow sin sqrt tan
    ENV: [ fetch key?
    Process: CLOCK_MONOTONIC clock_gettime pid ppid
    Random: new_seed rand
    SecureRandom: alphanumeric base64 hex random_number uuid
    YAML: dump safe_load
    CSV: foreach generate_line parse parse_line read
    URI: decode_www_form_component encode_www_form encode_www_form_component join parse
    Base64: decode64 encode64 strict_decode64 strict_encode64 urlsafe_decode64 urlsafe_encode64
    Digest: MD5 SHA1 SHA256 SHA512
    Etc: getlogin nprocessors
    Float: EPSILON INFINITY MAX MIN NAN
    Integer: sqrt
    Encoding: UTF_8 default_external default_internal
    Socket: gethostname
    Regexp: escape last_match new union
    """
)
VALUES = words(
    """
    ARGF ArgumentError ARGV Array DATA ENOENT Errno Float Hash IndexError Integer Interrupt KeyError MD5 NilClass Numeric Range
    Rational RUBY_COPYRIGHT RUBY_DESCRIPTION RUBY_ENGINE RUBY_PATCHLEVEL RUBY_PLATFORM RUBY_VERSION Set SHA1 SHA256 SHA512
    StandardError STDERR STDIN STDOUT StopIteration String Struct Symbol TypeError ZeroDivisionError
    """
)
LIBRARIES = words(
    """
    base64 bigdecimal csv date digest digest/md5 digest/sha1 digest/sha2 etc json pp securerandom set socket time uri yaml
    """
)
KERNEL = words(  # what every object has and is not listed: these keep their meaning where code gives them another one only in passing
    """
    ` __send__ at_exit autoload autoload? binding callcc caller caller_locations class_eval const_get define_method eval exec exit! extend
    fork gem include instance_eval instance_exec instance_variable_get instance_variable_set irb load method methods module_eval object_id
    open public_method public_send remove_const require require_relative select send set_trace_func singleton_class singleton_method
    spawn srand syscall system test trace_var trap warn instance_method using refine
    """
)
