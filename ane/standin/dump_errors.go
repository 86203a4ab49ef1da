package standin

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/anekit/anekit/internal/plist"
)

// errorDomain is the domain of errors that name none.
const errorDomain = "com.apple.appleneuralengine"

// DumpedError is an NSError in a dump.
type DumpedError struct {
	Stage  string // "compile", "load", "evaluate", "map", "unload", "chaining", "wall" beyond the loaded programs; empty where unknown
	Domain string
	Code   int64  // 0 where the dump has none
	Text   string // may be empty, and may have "…" where the dump leaves something out
	// Underlying are its causes, the nearest first.
	Underlying []DumpedError
	// Refusals is how many calls of the stage get it before one succeeds; 0 for all.
	Refusals int
	// Recovered says that the machine went on after it.
	Recovered bool
	// Replayed says that the framework answers calls of the stage with it.
	Replayed bool

	status   int64 // the driver's, where hasStatus
	has      bool
	userInfo plist.Dict
}

// row is the error as the framework takes it.
func (e DumpedError) row() plist.Dict {
	d := plist.Dict{{Key: "stage", Value: e.Stage}, {Key: "domain", Value: e.Domain}, {Key: "code", Value: e.Code}}
	if e.Text != "" {
		d = append(d, plist.Entry{Key: "text", Value: e.Text})
	}
	if e.has {
		d = append(d, plist.Entry{Key: "status", Value: e.status})
	}
	if e.Refusals > 0 {
		d = append(d, plist.Entry{Key: "refusals", Value: e.Refusals})
	}
	if len(e.userInfo) > 0 {
		d = append(d, plist.Entry{Key: "userInfo", Value: e.userInfo})
	}
	causes := plist.Array{}
	for _, c := range e.Underlying {
		causes = append(causes, c.row())
	}
	return append(d, plist.Entry{Key: "underlying", Value: causes})
}

// stages are the stages that a file may name.
var stages = [...]string{"compile", "load", "evaluate", "map", "unload", "chaining"}

// stageWords find the stage of a row that names none, in this order.
var stageWords = [...]struct {
	stage string
	words *regexp.Regexp // of its domain and text, a line each
}{
	{"compile", regexp.MustCompile(`\.(compiler|espresso)\n|verifyBundleAtPath|(?i:espresso)|ANECCompile`)},
	{"load", regexp.MustCompile(`createProgramInstance|Program load|file not found`)},
	{"map", regexp.MustCompile(`IOSurfaces (un)?map failure`)},
	{"chaining", regexp.MustCompile(`[Cc]haining`)},
	{"evaluate", regexp.MustCompile(`processRequest|Inference|status=0x|statusType=0x|request aborted|[Rr]equest cancelled`)},
}

var stageCodes = map[int64]string{3: "evaluate", 5: "evaluate", 8: "evaluate", 23: "evaluate", 42: "evaluate", 47: "evaluate",
	6: "load", 16: "load", 53: "load", 13: "map", 14: "map", 15: "chaining"}

func stageOf(row plist.Dict, domain, text string, code int64) string {
	if named := row.String("stage"); slices.Contains(stages[:], named) {
		return named
	}
	for _, s := range stageWords {
		if s.words.MatchString(domain + "\n" + text) {
			return s.stage
		}
	}
	return stageCodes[code]
}

// isError reports whether a row is an error.
func isError(row plist.Dict) bool {
	for _, key := range [...]string{"code", "text", "domain", "userInfo", "underlying", "NSUnderlyingError"} {
		if _, ok := row.Get(key); ok {
			return true
		}
	}
	return false
}

var (
	statusWords = regexp.MustCompile(`status=0x[0-9a-fA-F]+`)
	typeWords   = regexp.MustCompile(`statusType=0x[0-9a-fA-F]+`)
	retries     = regexp.MustCompile(`retry (\d+) x`)
	counted     = regexp.MustCompile(`^(\d+) of \d+`)
)

// errorOf reads one row. first is the first above it in its table with a status and a
// code, to which "same" refers; nil where there is none.
func errorOf(row plist.Dict, first *DumpedError) DumpedError {
	e := DumpedError{Domain: domainOf(row.String("domain")), Text: row.String("text"), Refusals: refusals(row)}
	code, _ := row.Get("code")
	var hasCode bool
	e.Code, hasCode = integer(code)
	recovered, _ := row.Get("recovered")
	e.Recovered, _ = recovered.(bool)
	if strings.HasPrefix(e.Text, "same") && first != nil {
		said := e.Text
		e.Text = first.Text
		for _, words := range [...]*regexp.Regexp{typeWords, statusWords} {
			if one := words.FindString(said); one != "" {
				e.Text = words.ReplaceAllLiteralString(e.Text, one)
			}
		}
	}
	if !hasCode && statusWords.MatchString(e.Text) && first != nil { // rows with a status all have one and the same
		e.Code = first.Code
	}
	e.causes(row)
	if info := row.Dict("userInfo"); info != nil {
		e.userInfo = info
	}
	e.Stage = stageOf(row, e.Domain, e.Text, e.Code)
	return e
}

// causes reads what lies under an error: a status, an error, or a list of errors.
func (e *DumpedError) causes(row plist.Dict) {
	under, _ := row.Get("underlying")
	if n, ok := integer(under); ok {
		e.status, e.has = n, true
	}
	for _, list := range []plist.Array{row.Array("underlying"), {row.Dict("underlying")}, {row.Dict("NSUnderlyingError")}} {
		for _, v := range list {
			if cause, _ := v.(plist.Dict); len(cause) > 0 && len(e.Underlying) < plist.MaxDepth/4 {
				c := DumpedError{Domain: domainOf(cause.String("domain")), Text: cause.String("text"), Code: e.Code}
				code, _ := cause.Get("code")
				if n, ok := integer(code); ok {
					c.Code = n
				}
				e.Underlying = append(e.Underlying, c)
			}
		}
	}
	if codes := row.Array("codes"); len(codes) > 0 && !e.has && e.Text == "" {
		if text, ok := codes[0].(string); ok {
			e.status, e.has = integer(strings.Fields(text + " -")[0])
		}
	}
}

// domainOf completes a domain that is cut at its front.
func domainOf(domain string) string {
	if tail, cut := strings.CutPrefix(domain, "…"); cut {
		return errorDomain + "." + strings.TrimLeft(tail, ".")
	}
	if domain == "" {
		return errorDomain
	}
	return domain
}

// refusals is how many calls fail before one succeeds, 0 where all do. Where the row
// says how many retries have helped, the last of them does.
func refusals(row plist.Dict) int {
	count, _ := row.Get("count")
	n, ok := integer(count)
	text := row.String("count")
	for i, words := range [...]*regexp.Regexp{retries, counted} {
		found := words.FindStringSubmatch(text)
		if ok || found == nil {
			continue
		}
		if m, err := strconv.ParseInt(found[1], 10, 32); err == nil {
			n, ok = max(m-1+int64(i), 1), true
		}
	}
	return int(min(max(n, 0), 1<<30))
}
