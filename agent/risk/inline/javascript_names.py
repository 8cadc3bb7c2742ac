"""Names that JavaScript code may use and still be harmless: they only compute, read or print, whatever they are given."""

from agent.risk.inline.reading import listed, words

KEYWORDS = words(
    """
    async await break case catch const continue default delete do else false finally for function if in Infinity instanceof let NaN
    new null of return switch throw true try typeof undefined var void while yield
    """
)
VALUES = words(
    """
    __dirname __filename false Infinity NaN null true undefined
    """
)
GLOBALS = words(
    """
    __dirname __filename Array atob BigInt Boolean btoa Buffer Date decodeURI decodeURIComponent encodeURI encodeURIComponent Error
    isFinite isNaN Map Number Object parseFloat parseInt performance Promise RegExp Set setImmediate setTimeout String
    structuredClone Symbol TextDecoder TextEncoder TypeError Uint8Array URL URLSearchParams WeakMap
    """
)
MEMBERS = listed(
    """
    console: assert debug dir error info log table time timeEnd warn
    JSON: parse stringify
    Math: E PI abs atan atan2 cbrt ceil cos exp floor hypot log log10 log2 max min pow random round sign sin sqrt tan trunc
    process: arch argv cwd env execPath exit exitCode getuid hrtime memoryUsage pid platform release stderr stdin stdout title
     uptime version versions
    fs: existsSync lstatSync readFile readFileSync readdir readdirSync stat statSync
    path: basename delimiter dirname extname isAbsolute join normalize parse relative resolve sep
    os: EOL arch availableParallelism cpus endianness freemem homedir hostname loadavg networkInterfaces platform release tmpdir
     totalmem type uptime userInfo version
    url: URL URLSearchParams format parse
    querystring: escape parse stringify unescape
    util: format inspect
    crypto: createHash createHmac getHashes randomBytes randomInt randomUUID
    assert: deepEqual equal ok strictEqual
    readline: createInterface
    zlib: deflateSync gunzipSync gzipSync inflateSync
    """
)
CALLABLE = words(
    """
    add all alloc allSettled assign at bigint byteLength catch charAt charCodeAt clear codePointAt concat decode delete digest
    encode end endsWith entries every exec fill filter finally find findIndex findLast flat flatMap forEach freeze from fromCharCode
    fromCodePoint fromEntries get getDate getDay getFullYear getHours getMinutes getMonth getOwnPropertyNames getSeconds getTime
    getTimezoneOffset has includes indexOf isArray isDirectory isFile isFinite isInteger isNaN isSafeInteger join keys lastIndexOf
    length localeCompare log map match matchAll max min normalize now of on once padEnd padStart parse pop push race raw read
    readUInt8 reduce reduceRight repeat replace replaceAll resolve reverse search set setEncoding shift slice some sort splice split
    startsWith stringify substr substring test then toFixed toISOString toJSON toLocaleDateString toLocaleString toLocaleTimeString
    toLowerCase toPrecision toReversed toSorted toString toUpperCase toUTCString trim trimEnd trimStart unshift update UTC values
    write
    """
)
FORBIDDEN = words(
    """
    __defineGetter__ __defineSetter__ __lookupGetter__ __proto__ _linkedBinding _load apply bind binding cache call callee caller
    constructor createRequire defineProperty dlopen getPrototypeOf globalThis main mainModule process prototype require
    setPrototypeOf
    """
)
RESERVED = words(  # mean something else than what the code gives them, where it gives it to them only in passing
    """
    eval Function require module exports global globalThis process self window import fetch WebSocket Worker WebAssembly Deno Bun Reflect
    Proxy async_hooks child_process cluster console dgram diagnostics_channel dns domain events http http2 https inspector net
    perf_hooks punycode repl stream string_decoder sys timers tls tty v8 vm wasi worker_threads setInterval queueMicrotask prompt alert
    """
)
