package chat

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// folder writes files.
func folder(t *testing.T, files map[string]string) string {
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func render(t *testing.T, dir, conversation string) (string, error) {
	path := filepath.Join(t.TempDir(), "c.json")
	require.NoError(t, os.WriteFile(path, []byte(conversation), 0o600))
	template, err := Open(dir)
	if err != nil {
		return "", err
	}
	c, err := Read(path)
	if err != nil {
		return "", err
	}
	return template.Render(t.Context(), c, time.Time{})
}

// The template is that of the folder's files, with its special tokens; the conversation's variables replace both.
func TestTemplates(t *testing.T) {
	const hi = `{"messages":[{"role":"user","content":"hi"}]}`
	const config = `{"bos_token":"<s>","eos_token":{"content":"</s>","lstrip":false},"pad_token":null,` +
		`"chat_template":"{{ bos_token }}{{ messages[0].content }}{{ eos_token }}{{ pad_token is defined }}{{ tools }}"}`
	for _, c := range []struct {
		files              map[string]string
		conversation, want string
	}{
		{map[string]string{tokenizerFile: config}, hi, "<s>hi</s>FalseNone"},
		{map[string]string{tokenizerFile: config}, hi[:len(hi)-1] + `,"bos_token":"!","tools":[1]}`, "!hi</s>False[1]"},
		{map[string]string{tokenizerFile: config, templateFile: "{{ eos_token }}\n"}, hi, "</s>"},
		{map[string]string{templateFile: "{{ messages | length }}{{ add_generation_prompt }}"}, hi, "1False"},
		{map[string]string{tokenizerFile: `{"chat_template":[{"name":"default","template":"d"},{"name":"tool_use",` +
			`"template":"t"}]}`}, hi, "d"},
		{map[string]string{tokenizerFile: `{"chat_template":[{"name":"default","template":"d"},{"name":"tool_use",` +
			`"template":"t"}]}`}, hi[:len(hi)-1] + `,"tools":[{}]}`, "t"},
	} {
		got, err := render(t, folder(t, c.files), c.conversation)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
}

// A conversation grows by what is said, and what was read from a file stays.
func TestSay(t *testing.T) {
	template, err := Open(folder(t, map[string]string{templateFile: "{% for m in messages %}{{ m.role }}:{{ m.content }};" +
		"{% endfor %}{{ add_generation_prompt }}"}))
	require.NoError(t, err)
	c := New()
	for _, want := range []string{"user:a;True", "user:a;assistant:b;True"} {
		c.Say("user", "a")
		if want[len(want)-6] == 'b' {
			c = New()
			c.Say("user", "a")
			c.Say("assistant", "b")
		}
		c.Answer()
		got, err := template.Render(t.Context(), c, time.Time{})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// Each fault has its kind and names the file.
func TestErrors(t *testing.T) {
	const hi = `{"messages":[]}`
	good := map[string]string{templateFile: "x"}
	for _, c := range []struct {
		files              map[string]string
		conversation, want string
		kind               error
	}{
		{map[string]string{}, hi, "no chat template: neither chat_template.jinja nor chat_template in", ErrNone},
		{map[string]string{tokenizerFile: `{}`}, hi, "no chat template", ErrNone},
		{map[string]string{tokenizerFile: `{`}, hi, tokenizerFile, ErrTemplate},
		{map[string]string{templateFile: "{{"}, hi, "line 1", ErrTemplate},
		{map[string]string{templateFile: "{{ raise_exception('Not so.') }}"}, hi, "Not so.", ErrRefused},
		{good, `{}`, "no list messages", ErrConversation},
		{good, `[]`, "c.json", ErrConversation},
		{good, `{"messages":[}`, "c.json", ErrConversation},
	} {
		_, err := render(t, folder(t, c.files), c.conversation)
		require.ErrorIs(t, err, c.kind)
		require.ErrorContains(t, err, c.want)
	}
	_, err := Read(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, ErrConversation)
	template, err := Open(folder(t, good))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = template.Render(ctx, New(), time.Time{})
	require.ErrorIs(t, err, context.Canceled)
}

// The template for tools stands in a file of its own, or by its name. A list of no tools takes it too, no list does not.
func TestTemplateForTools(t *testing.T) {
	dir := folder(t, map[string]string{templateFile: "default"})
	require.NoError(t, os.Mkdir(filepath.Join(dir, filepath.Dir(toolsFile)), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, toolsFile), []byte("{{ tools|length }} tools"), 0o600))
	named := folder(t, map[string]string{tokenizerFile: `{"chat_template":[{"name":"default","template":"default"},` +
		`{"name":"tool_use","template":"{{ tools|length }} tools"}]}`})
	for conversation, want := range map[string]string{
		`{"messages":[]}`: "default", `{"messages":[],"tools":null}`: "default",
		`{"messages":[],"tools":[]}`: "0 tools", `{"messages":[],"tools":[{}]}`: "1 tools",
	} {
		for _, in := range []string{dir, named} {
			got, err := render(t, in, conversation)
			require.NoError(t, err)
			require.Equal(t, want, got, conversation)
		}
	}
}
