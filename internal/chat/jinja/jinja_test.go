package jinja

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// day is the time of the expected texts.
func day() time.Time { return time.Date(2026, 11, 9, 7, 5, 3, 123456000, time.UTC) }

// dict returns the object of a JSON text.
func dict(t testing.TB, text string) *Dict {
	v, err := FromJSON([]byte(text))
	require.NoError(t, err)
	d, ok := v.(*Dict)
	require.True(t, ok)
	return d
}

// render parses and renders.
func render(ctx context.Context, source string, variables *Dict) (string, error) {
	t, err := Parse(source)
	if err != nil {
		return "", err
	}
	return t.Render(ctx, variables, day())
}

// testdata reads a file of cases. Jinja2 3.1.2 wrote their texts under transformers' settings.
func testdata(t testing.TB, name string) *Dict {
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return dict(t, string(text))
}

// Each construct gives the text of the reference, or an error where the reference has one.
func TestSnippets(t *testing.T) {
	file := testdata(t, "snippets.json")
	cases := file.Get("cases").([]any)
	require.Greater(t, len(cases), 600)
	for _, one := range cases {
		source, want := one.([]any)[0].(string), one.([]any)[1]
		got, err := render(t.Context(), source, file.Get("variables").(*Dict))
		if want == nil {
			require.Error(t, err, source)
			require.NotErrorIs(t, err, ErrBudget, source)
			continue
		}
		require.NoError(t, err, source)
		require.Equal(t, want, got, source)
	}
}

// Blocks and filters that few templates have give the texts of Jinja2 3.1.6.
func TestBlocks(t *testing.T) {
	variables := dict(t, `{"s":"abc def","l":[3,1,2],"n":-3,"w":["b","A","a"],"m":[{"n":1},{"n":4}]}`)
	for source, want := range map[string]string{
		`{% set x | trim | upper %}  q {{ s }} {% endset %}[{{ x }}]`:                                                   "[Q ABC DEF]",
		`{% filter upper %}a{{ s }}{% endfilter %}.`:                                                                    "AABC DEF.",
		`{% filter trim | replace("a", n) %} a {% endfilter %}.`:                                                        "-3.",
		`{% with s = 1, x = s %}{{ s }}{{ x }}{% set y = 2 %}{% endwith %}{{ s }}{{ y }}`:                               "1abc defabc def",
		`{% for i in l %}{% with %}{% if i == 1 %}{% break %}{% endif %}{{ i }}{% endwith %}{% endfor %}`:               "3",
		`{% macro m(a) %}[{{ a }}{{ caller() }}]{% endmacro %}{% call m(1) %}{{ s }}{% endcall %}`:                      "[1abc def]",
		`{% macro m() %}{{ caller(1, k=2) }}{% endmacro %}{% call(x, k=0) m() %}{{ x }}{{ k }}{% endcall %}`:            "12",
		`{% macro m() %}{{ caller is defined }}{% endmacro %}{{ m() }}{% call m() %}{% endcall %}`:                      "FalseTrue",
		`{{ n|abs }}{{ 2.5|abs }}{{ l|max }}{{ l|min }}{{ l|sum }}{{ []|max }}{{ []|sum }}`:                             "32.53160",
		`{{ w|min }}{{ w|min(case_sensitive=true) }}{{ (m|max(attribute="n")).n }}{{ m|sum("n") }}{{ m|sum("n", 10) }}`: "AA4515",
		`{{ "0x1F"|int(0, 16) }} {{ "1f"|int(base=16) }} {{ "0b11"|int(0, 2) }} {{ "z"|int(7, 16) }}`:                   "31 31 3 7",
	} {
		got, err := render(t.Context(), source, variables)
		require.NoError(t, err, source)
		require.Equal(t, want, got, source)
	}
	for _, source := range []string{`{% call s %}{% endcall %}`, `{% call m() %}`, `{% with 1 = 2 %}{% endwith %}`,
		`{% filter none %}{% endfilter %}`, `{{ "a"|abs }}`, `{{ w|sum }}`, `{{ 9007199254740993 + 0 }}`} {
		_, err := render(t.Context(), source, variables)
		require.ErrorIs(t, err, ErrTemplate, source)
	}
}

// Whole templates render conversations as the reference does, and refuse with its words.
func TestConversations(t *testing.T) {
	file := testdata(t, "conversations.json")
	refused := 0
	for i, one := range file.Get("cases").([]any) {
		c := one.(*Dict)
		source, err := os.ReadFile(filepath.Join("testdata", c.Get("template").(string)+".jinja"))
		require.NoError(t, err)
		if c.Get("tools") == "tools" {
			c.Set("tools", file.Get("tools"))
		}
		c.Set("bos_token", "<s>")
		c.Set("eos_token", "</s>")
		got, err := render(t.Context(), string(source), c)
		if want := c.Get("error"); want != nil {
			require.Error(t, err, i)
			if e := (*Error)(nil); errors.Is(err, ErrRefused) && errors.As(err, &e) {
				require.Equal(t, want, e.Detail, i)
				refused++
			}
			continue
		}
		require.NoError(t, err, i)
		require.Equal(t, c.Get("text"), got, i)
	}
	require.Greater(t, refused, 5)
}

// A fault is one error that names the line.
func TestErrorsNameTheLine(t *testing.T) {
	for source, want := range map[string]string{
		"\n\n{% foo %}":                  "chat template: line 3: template cannot be rendered: unknown tag 'foo'",
		"\n{{ a\n + }}":                  "line 3: template cannot be rendered: unexpected }}",
		"a\n{% if x %}\n":                "no endif",
		"\n{{ x.y }}":                    "line 2: template cannot be rendered: 'x' is undefined",
		"{% for i in [1] %}\n{{ 1/0 }}":  "no endfor",
		"{% set a = 1 %}\n{{ a/0 }}":     "line 2: template cannot be rendered: division by zero",
		"\n{{ raise_exception('No!') }}": "line 2: the template refuses the conversation: No!",
		"{% include 'x' %}":              "include reads a file, and a chat template reads none",
		"{{ [1].append(2) }}":            "access to attribute 'append' of 'list' object is unsafe",
	} {
		_, err := render(t.Context(), source, &Dict{})
		require.ErrorContains(t, err, want, source)
		require.NotContains(t, err.Error(), "\n")
	}
}

// A template ends: by its budget of work, text and depth, or with its context.
func TestBudgets(t *testing.T) {
	const many = 10_000
	deep := strings.Repeat("(", many) + "a" + strings.Repeat(")", many)
	for name, source := range map[string]string{
		"loops":    "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
		"text":     "{% set ns = namespace(s='aaaaaaaaaaaaaaaa') %}{% for i in range(99) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
		"repeat":   "{{ 'abc' * 999999999 }}",
		"list":     "{{ [1, 2] * 999999999 }}",
		"replace":  "{{ ('a' * 9999999) | replace('', 'b' * 99999) }}",
		"join":     "{{ range(9999) | map('string') | join('a' * 99999) }}",
		"indent":   "{{ ('a\n' * 999999) | indent(9999) }}",
		"json":     "{{ [[[[1]]]] | tojson(indent=999999999) }}",
		"macro":    "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
		"values":   "{% set ns = namespace(x=[]) %}{% for i in range(9999) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}",
		"equal":    "{% set ns = namespace(x=[], y=[]) %}{% for i in range(9999) %}{% set ns.x = [ns.x] %}{% set ns.y = [ns.y] %}{% endfor %}{{ ns.x == ns.y }}",
		"itself":   "{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}",
		"written":  "{% for a in range(9999) %}{{ 'a' * 99999 }}{% endfor %}",
		"sort":     "{% for a in range(99999) %}{% set x = range(99999) | sort %}{% endfor %}",
		"slices":   "{% for a in range(99999) %}{% set x = ('a' * 99999)[1:] %}{% endfor %}",
		"nested":   "{{ " + deep + " }}",
		"negative": "{{ " + strings.Repeat("not ", many) + "x }}",
		"minus":    "{{ " + strings.Repeat("- ", many) + "1 }}",
		"tags":     strings.Repeat("{% if x %}", many),
		"targets":  "{% set " + deep + " = 1 %}",
		"source":   strings.Repeat("a", maxSource+1),
	} {
		_, err := render(t.Context(), source, &Dict{})
		require.ErrorIs(t, err, ErrBudget, name)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := render(ctx, "{% for a in range(99999) %}{{ a }}{% endfor %}", &Dict{})
	require.ErrorIs(t, err, context.Canceled)
}

// Several goroutines may render one template, and a render changes no variable.
func TestTemplatesAreShared(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("testdata", "a.jinja"))
	require.NoError(t, err)
	shared, err := Parse(string(source))
	require.NoError(t, err)
	variables := dict(t, `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}],"eos_token":"</s>"}`)
	want, err := shared.Render(t.Context(), variables, day())
	require.NoError(t, err)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			got, err := shared.Render(t.Context(), variables, day())
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
	all.Wait()
}

// Numbers and keys of JSON are those of Python.
func TestFromJSON(t *testing.T) {
	got, err := render(t.Context(), "{{ x | tojson }} {{ x }}",
		dict(t, `{"x":{"b":1,"a":1.0,"c":1e5,"d":123456789012345678901234567890,"e":-0.0,"f":[null,true],"b":2}}`))
	require.NoError(t, err)
	require.Equal(t, `{"b": 2, "a": 1.0, "c": 100000.0, "d": 123456789012345678901234567890, "e": -0.0, "f": [null, true]} `+
		`{'b': 2, 'a': 1.0, 'c': 100000.0, 'd': 123456789012345678901234567890, 'e': -0.0, 'f': [None, True]}`, got)
	for _, text := range []string{``, `{`, `[1,]`, `{} 1`, `nul`, strings.Repeat("[", 9999), `"\ud800"`} {
		_, err := FromJSON([]byte(text))
		require.Error(t, err, text)
	}
}

// No template and no conversation makes it panic or hang.
func FuzzTemplate(f *testing.F) {
	for _, name := range []string{"a", "b"} {
		source, err := os.ReadFile(filepath.Join("testdata", name+".jinja"))
		require.NoError(f, err)
		f.Add(string(source), `{"messages":[{"role":"user","content":"a"}],"tools":[]}`)
	}
	for i, one := range testdata(f, "snippets.json").Get("cases").([]any) {
		if i%7 == 0 {
			f.Add(one.([]any)[0].(string), `{"n":3,"s":"abc","l":[3,1,2],"d":{"a":null},"m":[{"role":"user"}]}`)
		}
	}
	f.Fuzz(func(t *testing.T, source, variables string) {
		v, err := FromJSON([]byte(variables))
		d, ok := v.(*Dict)
		if err != nil || !ok {
			return
		}
		text, err := render(t.Context(), source, d)
		var fault *Error
		if err != nil {
			require.ErrorAs(t, err, &fault)
			return
		}
		_, err = json.Marshal(text)
		require.NoError(t, err)
	})
}
