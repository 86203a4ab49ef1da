package standin

import (
	"strings"

	"github.com/anekit/anekit/internal/plist"
)

var (
	classNames    = &pattern{text: `^[A-Za-z_][A-Za-z0-9_]*$`}
	selectorNames = &pattern{text: `^[A-Za-z_][A-Za-z0-9_:.]*$`}
	encodings     = &pattern{text: `^[A-Za-z0-9@:^{}_=?*#()<>"!,.+$\[\]-]+$`}
)

// The lengths are not part of the expressions: counted repetition took a megabyte and milliseconds at every start.
func isClass(s string) bool    { return len(s) <= 200 && classNames.get().MatchString(s) }
func isSelector(s string) bool { return len(s) <= 1000 && selectorNames.get().MatchString(s) }
func isEncoding(s string) bool { return len(s) <= 999 && encodings.get().MatchString(s) }

// factories are the selectors that a table abbreviates with an ellipsis.
var factories = [...]string{
	"requestWithInputs:inputIndices:outputs:outputIndices:procedureIndex:",
	"requestWithInputs:inputIndices:outputs:outputIndices:perfStats:procedureIndex:",
	"requestWithInputs:inputIndices:outputs:outputIndices:weightsBuffer:procedureIndex:",
	"requestWithInputs:inputIndices:outputs:outputIndices:weightsBuffer:perfStats:procedureIndex:",
	"requestWithInputs:inputIndices:outputs:outputIndices:weightsBuffer:perfStats:procedureIndex:sharedEvents:",
}

// readMethods reads encodings of methods from tables by class, and from the rows of a self-check. There an empty
// encoding means that the method is missing.
func (d *Dump) readMethods(data plist.Dict) {
	for _, e := range data {
		methods, ok := e.Value.(plist.Dict)
		if !ok || !isClass(e.Key) || !strings.HasPrefix(e.Key, "_ANE") {
			continue
		}
		for _, m := range methods {
			types, _ := m.Value.(string)
			d.method(e.Key, fullSelector(strings.TrimLeft(m.Key, "+-"), types), types, types != "")
		}
	}
	for _, v := range data.Array("self_check") {
		row, _ := v.(plist.Dict)
		found, present := row.Get("found")
		types, isText := found.(string)
		missing := row.String("status") == "missing" && types == ""
		d.method(row.String("class"), row.String("selector"), types, present && isText || missing)
	}
}

// method records one method with its encoding. The encoding of a missing method is
// empty; a missing class has no selector.
func (d *Dump) method(class, selector, types string, present bool) {
	switch {
	case !present || !isClass(class):
	case selector == "" && types == "":
		d.missing = append(d.missing, class)
	case !isSelector(selector):
	case types == "":
		d.missing = append(d.missing, class+" "+selector)
	case isEncoding(types):
		d.changed = append(d.changed, class+" "+selector+" "+gnustepEncoding(types))
	}
}

// gnustepEncoding converts the encoding of a Mac to GNUstep's: BOOL is an unsigned char
// here, and the bridge expects the local encoding.
func gnustepEncoding(types string) string {
	depth := 0
	return strings.Map(func(c rune) rune {
		switch c {
		case '{', '(':
			depth++
		case '}', ')':
			depth--
		case 'B':
			if depth <= 0 {
				return 'C'
			}
		}
		return c
	}, types)
}

// fullSelector expands a selector with an ellipsis: it matches its ends and the number
// of arguments in the encoding. It returns "" if none matches.
func fullSelector(selector, types string) string {
	head, tail, cut := strings.Cut(selector, "…")
	if !cut {
		return selector
	}
	for _, s := range factories {
		if strings.HasPrefix(s, head) && strings.HasSuffix(s, tail) &&
			strings.Count(s, ":") == strings.Count(types, "@")-2 {
			return s
		}
	}
	return ""
}
