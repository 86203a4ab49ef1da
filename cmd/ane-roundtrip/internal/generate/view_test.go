package generate

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
)

const (
	chosen = `{"tokens":[1,2],"bytes_copied":9,"bytes_copied_per_token":3,"stopped":"max","memory":{"scratch_bytes":5},
		"snapshot":"talk","saves":2}`
	acting = `{"guest":"talker","guest_sha256":"0123456789abcdef0123","tokens":[],"bytes_copied":9}`
	limits = `{"chip":"all","budgets":[{"name":"a","used":3,"limit":2},{"name":"b","used":3,"limit":null}]}`
)

func shown(t *testing.T, details string) (page, terminal string) {
	object := fmt.Appendf(nil, `{"verdict":"pass","details":%s}`, details)
	var html, text bytes.Buffer
	require.NoError(t, doc.Write(&html, object, View))
	require.NoError(t, doc.Terminal(&text, object, View))
	return html.String(), text.String()
}

// A plan has not passed; an answer has.
func TestAPlanIsNoPass(t *testing.T) {
	page, _ := shown(t, limits)
	require.Contains(t, page, `<h1><span class="word">Plan</span></h1>`)
	page, _ = shown(t, chosen)
	require.Contains(t, page, `<h1 class="pass">`)
}

// Figures of copies say what they count: none is called copied alone on a page.
func TestCopiesHaveTheirNames(t *testing.T) {
	for _, details := range []string{chosen, acting} {
		page, terminal := shown(t, details)
		require.NotRegexp(t, `>copied</(dt|th)>`, page)
		require.Regexp(t, `(?m)^copied +\d bytes (per token|in this run): `, terminal)
	}
}

// A limit that is not known is no 0, and one that is exceeded is marked.
func TestLimits(t *testing.T) {
	page, terminal := shown(t, limits)
	require.Regexp(t, `data-json="/details/budgets/1/limit"[^>]*>–<`, page)
	require.Regexp(t, `(?m)^a +3 +2, exceeded\nb +3 +not known$`, terminal)
}

// A terminal shows the file of a conversation, and of a guest the beginning of its hash.
func TestNamesOfFiles(t *testing.T) {
	_, terminal := shown(t, chosen)
	require.Regexp(t, `(?m)^snapshot +talk, written 2 times in `, terminal)
	_, terminal = shown(t, acting)
	require.Regexp(t, `(?m)^guest +talker.* of memory, SHA-256 0123456789abcdef\.\.\.$`, terminal)
}

// A look at a prompt has passed nothing, and shows what it found.
func TestLooks(t *testing.T) {
	page, _ := shown(t, `{"model":"m","tokens":[1,7],"pieces":["<s>","_a"]}`)
	require.Contains(t, page, `<h1><span class="word">Tokens</span></h1>`)
	require.Regexp(t, `>_a<`, page)
	// The work grows with the tokens: with their square this would outlast the package's time.
	many := strings.Repeat("7,", 99_999) + "7"
	_, terminal := shown(t, `{"model":"m","tokens":[`+many+`],"pieces":["`+strings.ReplaceAll(many, ",", `","`)+`"]}`)
	require.Equal(t, 100_000, strings.Count(terminal, "\n7 "))
	page, _ = shown(t, `{"model":"m","rendered":"<s>text"}`)
	require.Contains(t, page, `<h1><span class="word">Conversation</span></h1>`)
	require.Contains(t, page, `&lt;s&gt;text`)
}
