package generate

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/terminal"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/chat"
	"github.com/anekit/anekit/internal/wholefile"
	"github.com/anekit/anekit/models/decoder/tokenizer"
)

// looked are the details of generate --render and --show-tokens, which need no weights.
type looked struct {
	Model    string   `json:"model"`
	Rendered *string  `json:"rendered,omitempty"`
	Tokens   []int    `json:"tokens,omitzero"`
	Pieces   []string `json:"pieces,omitzero"`
}

// maxPrompt is the size in bytes of the largest text that the tokenizer takes.
const maxPrompt = 16 << 20

// lookFlags adds the flags of prompts in files, and of looking at what the model gets.
func (j *job) lookFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&j.promptFile, "prompt-file", "", "`FILE` of the text to continue, byte for byte")
	f.StringVar(&j.messages, "messages", "", "`FILE` of a conversation: JSON with messages")
	f.BoolVar(&j.chat, "chat", false, "answer the lines of standard input as a conversation")
	f.BoolVar(&j.render, "render", false, "print the text of --messages, run nothing")
	f.BoolVar(&j.show, "show-tokens", false, "print the tokens of the prompt, run nothing")
}

// looks returns the flag by which the job only looks at something; empty for none.
func (j *job) looks() string {
	switch {
	case j.plan:
		return "--plan"
	case j.render:
		return "--render"
	case j.show:
		return "--show-tokens"
	}
	return ""
}

// readText returns the text that the model gets, and whether it has its special tokens already.
func (j *job) readText(t *trial.T) (text string, whole bool) {
	switch {
	case j.promptFile != "":
		b, err := wholefile.Read(j.promptFile, maxPrompt)
		refuse(err != nil, "--prompt-file: %w; name a file of at most %d bytes", err, maxPrompt)
		return string(b), false
	case j.messages != "":
		c := trial.Must(chat.Read(j.messages))
		if !j.render {
			c.Answer()
		}
		template := trial.Must(chat.Open(j.folder))
		return trial.Must(template.Render(t.Ctx, c, time.Now())), true
	}
	return j.prompt, false
}

// encode returns the ids of the prompt.
func (j *job) encode(t *trial.T, words *tokenizer.Tokenizer) []int {
	text, whole := j.readText(t)
	if whole {
		return trial.Must(words.EncodeBare(text))
	}
	return trial.Must(words.Encode(text))
}

// look prints the text of a conversation, or the tokens of a prompt.
func (j *job) look(t *trial.T) {
	refuse(j.folder == "", "no model; give --model FOLDER")
	refuse(j.render && j.messages == "", "--render is for --messages; give both")
	trial.NoError(j.app.ReadsModel(j.folder))
	out := j.app.TakeAnswer(true)
	d := looked{Model: j.folder}
	if j.render {
		text, _ := j.readText(t)
		d.Rendered = &text
		trial.NoError(cli.WriteError(cli.Stdio, cli.WriteText(out, text)))
	} else {
		words := trial.Must(tokenizer.Read(filepath.Join(j.folder, "tokenizer.json")))
		if d.Tokens, d.Pieces = []int{}, []string{}; j.tokens != "" {
			d.Tokens = parseTokens(j.tokens)
		} else {
			d.Tokens = append(d.Tokens, j.encode(t, words)...)
		}
		for _, id := range d.Tokens {
			piece, ok := words.Token(id)
			refuse(!ok, "the tokenizer has no token %d; give ids of the model", id)
			d.Pieces = append(d.Pieces, piece)
			_, err := fmt.Fprintf(out, "%d\t%s\n", id, terminal.Visible(piece))
			trial.NoError(cli.WriteError(cli.Stdio, err))
		}
	}
	if j.app.Reports() { // else everything is said
		j.app.Show(&d, View)
	}
}
