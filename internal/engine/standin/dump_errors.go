package standin

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/anekit/anekit/internal/plist"
)

// errorDomain is the default domain of errors.
const errorDomain = "com.apple.appleneuralengine"

// DumpedError is an NSError in a dump.
type DumpedError struct {
	// Stage is the failed call: "compile", "load", "evaluate", "map", "unload", "chaining", "create", "describe",
	// "request" or "surface". It may be another word of objcbridge.Stage, or "wall" for exceeding the limit of loaded
	// programs. It is empty if unknown.
	Stage string
	// Kind is the outcome of the call, a word of objcbridge.Kind; empty for an NSError.
	Kind   string
	Domain string
	Code   int64  // 0 if the dump has none
	Text   string // may be empty; "…" marks text that the dump omits
	// Underlying are the causes, the nearest first.
	Underlying []DumpedError
	// Refusals is the number of calls of the stage that fail before one succeeds; 0 for
	// all.
	Refusals int
	// Recovered reports that the machine continued after the error.
	Recovered bool
	// Program is the label of the only program with this error; empty for all programs.
	Program string
	// Replayed reports that the framework returns this error from calls of the stage.
	Replayed bool

	status    int64 // the driver's, if has is true
	has       bool
	userInfo  plist.Dict
	fault     FaultKind // replaces the NSError if not 0
	selectors []string  // selectors of the methods with the fault
	exception string    // name of the exception; may be empty
}

// row returns the error in the form that the framework reads.
func (e DumpedError) row() plist.Dict {
	d := plist.Of("stage", e.Stage, "domain", e.Domain, "code", e.Code)
	add := func(known bool, key string, value any) {
		if known {
			d = append(d, plist.Entry{Key: key, Value: value})
		}
	}
	add(e.Text != "", "text", e.Text)
	add(e.has, "status", e.status)
	add(e.Refusals > 0, "refusals", e.Refusals)
	add(len(e.userInfo) > 0, "userInfo", e.userInfo)
	selectors := plist.Array{}
	for _, s := range e.selectors {
		selectors = append(selectors, s)
	}
	add(e.fault != 0, "fault", int64(e.fault))
	add(e.fault != 0, "selectors", selectors)
	add(e.fault != 0 && e.exception != "", "exception", e.exception)
	causes := plist.Array{}
	for _, c := range e.Underlying {
		causes = append(causes, c.row())
	}
	add(true, "underlying", causes)
	return d
}

// stageWords are the patterns for the stage of a row without one, in order of
// precedence.
var stageWords = [...]struct {
	stage string
	words *pattern // matched against domain and text, one line each
}{
	{"compile", &pattern{text: `\.(compiler|espresso)\n|verifyBundleAtPath|(?i:espresso)|ANECCompile`}},
	{"load", &pattern{text: `createProgramInstance|Program load|file not found`}},
	{"map", &pattern{text: `IOSurfaces (un)?map failure`}},
	{"chaining", &pattern{text: `[Cc]haining`}},
	{"evaluate", &pattern{text: `processRequest|Inference|status=0x|statusType=0x|request aborted|[Rr]equest cancelled`}},
}

var stageCodes = map[int64]string{3: "evaluate", 5: "evaluate", 8: "evaluate", 23: "evaluate", 42: "evaluate",
	47: "evaluate",
	6:  "load", 16: "load", 53: "load", 13: "map", 14: "map", 15: "chaining"}

// isError reports whether a row is an error.
func isError(row plist.Dict) bool {
	for _, key := range [...]string{"code", "text", "domain", "userInfo", "underlying", "NSUnderlyingError", "kind"} {
		if _, ok := row.Get(key); ok {
			return true
		}
	}
	return false
}

var (
	statusWords = &pattern{text: `status=0x[0-9a-fA-F]+`}
	typeWords   = &pattern{text: `statusType=0x[0-9a-fA-F]+`}
	retries     = &pattern{text: `retry (\d+) x`}
	counted     = &pattern{text: `^(\d+) of \d+`}
)

// errorOf reads one row. first is the first error above it in the table with a status
// and a code, to which the text "same" refers; nil if none.
func errorOf(row plist.Dict, first *DumpedError) DumpedError {
	e := DumpedError{Domain: domainOf(row.String("domain")), Text: textOf(row), Refusals: refusals(row)}
	var hasCode bool
	e.Code, hasCode = codeOf(row)
	e.Program = row.String("program")
	recovered, _ := row.Get("recovered")
	e.Recovered, _ = recovered.(bool)
	if strings.HasPrefix(e.Text, "same") && first != nil {
		message := e.Text
		e.Text = first.Text
		for _, words := range [...]*regexp.Regexp{typeWords.get(), statusWords.get()} {
			if one := words.FindString(message); one != "" {
				e.Text = words.ReplaceAllLiteralString(e.Text, one)
			}
		}
	}
	if !hasCode && statusWords.get().MatchString(e.Text) && first != nil { // all rows with a status have the same code
		e.Code = first.Code
	}
	e.causes(row)
	e.Stage = stageOf(row, e.Domain, e.Text, e.Code)
	e.readKind(row)
	return e
}

// domainOf completes a domain that is cut at its start.
func domainOf(domain string) string {
	if tail, cut := strings.CutPrefix(domain, "…"); cut {
		return errorDomain + "." + strings.TrimLeft(tail, ".")
	}
	if domain == "" {
		return errorDomain
	}
	return domain
}

// refusals returns the number of calls that fail before one succeeds, or 0 if all fail.
// If the row has a number of successful retries, only the last of them succeeds.
func refusals(row plist.Dict) int {
	count, _ := row.Get("count")
	n, ok := integer(count)
	text := row.String("count")
	for i, words := range [...]*regexp.Regexp{retries.get(), counted.get()} {
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
