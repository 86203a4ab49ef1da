// Package chat renders conversations by the chat template of a model's folder: chat_template.jinja, or chat_template of
// tokenizer_config.json. Package jinja below it renders, reads no file and is bounded.
package chat

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/anekit/anekit/internal/chat/jinja"
	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/internal/wholefile"
)

// Files of a folder.
const (
	templateFile  = "chat_template.jinja"
	tokenizerFile = "tokenizer_config.json"
	toolsFile     = "additional_chat_templates/tool_use.jinja"
	maxFile       = 16 << 20
)

// The kinds of error, for errors.Is, beside those of a context.
var (
	// ErrNone: the folder has no chat template.
	ErrNone = errors.New("no chat template")
	// ErrConversation: a conversation that is no JSON object with messages.
	ErrConversation = errors.New("no conversation")
	// ErrTemplate: the template, or the file that has it, cannot be read or rendered.
	ErrTemplate = jinja.ErrTemplate
	// ErrRefused: the template refuses the conversation with its own words.
	ErrRefused = jinja.ErrRefused
	// ErrBudget: the template takes too long, or writes too much.
	ErrBudget = jinja.ErrBudget
)

// Error is an error of a file; those of a template are *jinja.Error.
type Error struct {
	errtext.Base
	Name string // the file
}

// Error returns the text on one line.
func (e *Error) Error() string { return e.Line(e.Op + " " + e.Name) }

// Template is the chat template of a folder.
type Template struct {
	text    string
	tools   string      // the template for conversations with tools; empty for the same one
	special *jinja.Dict // tokens by name, such as bos_token
}

// Open reads the template of a folder, and the names of its special tokens.
func Open(dir string) (*Template, error) {
	path := filepath.Join(dir, tokenizerFile)
	config, err := readObject(path, ErrTemplate, "")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	t := &Template{special: &jinja.Dict{}}
	for name, value := range config.All() {
		if object, ok := value.(*jinja.Dict); ok {
			value = object.Get("content")
		}
		if s, ok := value.(string); ok && len(name) > len("_token") && name[len(name)-len("_token"):] == "_token" {
			t.special.Set(name, s)
		}
	}
	text, err := wholefile.Read(filepath.Join(dir, templateFile), maxFile)
	switch {
	case err == nil:
		t.text = string(text)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, &Error{errtext.Base{Op: "read", Err: ErrTemplate, Cause: err}, filepath.Join(dir, templateFile)}
	default:
		t.choose(config.Get("chat_template"))
	}
	switch tools, err := wholefile.Read(filepath.Join(dir, toolsFile), maxFile); {
	case err == nil:
		t.tools = string(tools)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, &Error{errtext.Base{Op: "read", Err: ErrTemplate, Cause: err}, filepath.Join(dir, toolsFile)}
	}
	if t.text == "" {
		return nil, &Error{errtext.Base{Op: "read", Err: ErrNone, Detail: "neither " + templateFile + " nor chat_template in " +
			tokenizerFile, Hint: "take those of the model's publisher, or give --prompt"}, dir}
	}
	return t, nil
}

// choose takes the value of chat_template: a text, or several by name.
func (t *Template) choose(value any) {
	if text, ok := value.(string); ok {
		t.text = text
		return
	}
	all, _ := value.([]any)
	for _, one := range all {
		object, _ := one.(*jinja.Dict)
		text, _ := object.Get("template").(string)
		switch object.Get("name") {
		case "default":
			t.text = text
		case "tool_use":
			t.tools = text
		}
	}
}

// readObject reads a JSON object. Its errors are of a kind.
func readObject(path string, kind error, hint string) (*jinja.Dict, error) {
	text, err := wholefile.Read(path, maxFile)
	var v any
	if err == nil {
		v, err = jinja.FromJSON(text)
	}
	object, ok := v.(*jinja.Dict)
	if err == nil && !ok {
		err = errors.New("no JSON object")
	}
	if err != nil {
		return nil, &Error{errtext.Base{Op: "read", Err: kind, Cause: err, Hint: hint}, path}
	}
	return object, nil
}

// Conversation are the variables of a template: messages, tools, add_generation_prompt and its own.
type Conversation struct{ variables *jinja.Dict }

// New returns a conversation without messages.
func New() *Conversation {
	c := &Conversation{&jinja.Dict{}}
	c.variables.Set("messages", []any{})
	return c
}

// Read reads a conversation: a JSON object.
func Read(path string) (*Conversation, error) {
	const hint = `give {"messages": [{"role": "user", "content": "..."}]}`
	object, err := readObject(path, ErrConversation, hint)
	if err != nil {
		return nil, err
	}
	if _, ok := object.Get("messages").([]any); !ok {
		return nil, &Error{errtext.Base{Op: "read", Err: ErrConversation, Detail: "no list messages", Hint: hint}, path}
	}
	return &Conversation{object}, nil
}

// Say adds a message.
func (c *Conversation) Say(role, text string) {
	message := &jinja.Dict{}
	message.Set("role", role)
	message.Set("content", text)
	all, _ := c.variables.Get("messages").([]any)
	c.variables.Set("messages", append(all[:len(all):len(all)], message))
}

// Answer says whether the text ends with the start of an answer, unless the conversation says so itself.
func (c *Conversation) Answer() {
	if c.variables.Get("add_generation_prompt") == nil {
		c.variables.Set("add_generation_prompt", true)
	}
}

// Render returns the text of a conversation. now is the time of templates that write the date.
//
// Errors match ErrTemplate, ErrRefused, ErrBudget or the one of ctx.
func (t *Template) Render(ctx context.Context, c *Conversation, now time.Time) (string, error) {
	all := &jinja.Dict{}
	for _, name := range []string{"tools", "documents"} { // which transformers always passes
		all.Set(name, nil)
	}
	all.Set("add_generation_prompt", false)
	all.Merge(t.special)
	all.Merge(c.variables)
	text := t.text
	if t.tools != "" && all.Get("tools") != nil { // an empty list too
		text = t.tools
	}
	parsed, err := jinja.Parse(text)
	if err != nil {
		return "", err
	}
	return parsed.Render(ctx, all, now)
}
