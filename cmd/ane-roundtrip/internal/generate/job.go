package generate

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/wasm"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/chat"
	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/internal/wholefile"
	"github.com/anekit/anekit/models/actor"
	"github.com/anekit/anekit/models/decoder"
	"github.com/anekit/anekit/models/decoder/tokenizer"
	"github.com/anekit/anekit/unimem/safetensors"
)

// job is a run of generate or actor: a conversation with a language model.
type job struct {
	app *cli.App

	// Flags.
	folder, prompt, tokens, form, snapshot string // folder: --model
	promptFile, messages                   string
	render, show, chat                     bool
	max, context                           int
	temperature, topP                      float64
	seed                                   uint64
	quiet                                  bool
	whole                                  bool // --max is given
	text                                   bool // text is printed, not ids
	plan                                   bool
	chip                                   string // of plan
	guest                                  string // of actor
	memory                                 int    // of the guest, in MiB

	acts, thaw, freeze bool       // of actor
	binary             []byte     // the guest
	frozen             actor.Info // what thaw continues
	named              bool       // the snapshot names the model, not --model
	exists             bool       // --snapshot of generate names a file
	saved              int        // tokens in that file

	template     *chat.Template // of --chat
	conversation *chat.Conversation
	steps        int // tokens of its answers but the first ones, and their time
	spent        time.Duration

	files  *decoder.Folder
	words  *tokenizer.Tokenizer // nil for ids
	model  *decoder.Model
	talked decoder.Snapshot

	started, began time.Time         // when the command and the prompt began
	answer         io.Writer         // gets the tokens as they come
	stream         *tokenizer.Stream // nil for ids
	ended          bool              // of the line
	details        details
	notes          []string
}

// details are the fields that generate and actor add to the report.
type details struct {
	cli.Generated
	cli.Loaded
	Model    string        `json:"model"`
	Prompt   int           `json:"prompt_tokens"`
	Restored int           `json:"restored_tokens"`
	Stopped  string        `json:"stopped"` // max, or eos of the model, or end of the guest
	Context  int           `json:"context"` // tokens that the session has room for
	Load     time.Duration `json:"load_ns"` // from the start to a loaded model and a conversation that can go on
	Snapshot string        `json:"snapshot,omitempty"`
	*generated
	*acted
}

// run checks everything that needs no engine, then opens the engine, loads the model, and talks.
func (j *job) run(t *trial.T) {
	j.started, j.answer = time.Now(), j.app.TakeAnswer(j.quiet)
	j.prepare(t)
	d := trial.Must(j.app.OpenEngineOrHint(t.Ctx))
	t.Closing(d.Close)
	j.load(t, d)
	f := &j.details
	f.Tokens, f.Model, f.Snapshot, f.Stopped = []int{}, j.folder, j.snapshot, "max"
	t.Closing(func() error {
		if len(f.Tokens) > 0 && !j.ended { // an error begins a line
			return j.endLine()
		}
		return nil
	})
	if j.acts {
		j.act(t, d)
	} else {
		j.generate(t)
	}
	if !j.chat || !j.ended {
		trial.NoError(j.endLine())
	}
	if !j.app.JSON {
		trial.NoError(j.app.Printf("\n"))
	}
	receipt := j.model.Receipt()
	j.app.Notes(append(receipt.Notes, j.notes...))
	r := cli.NewReport(d)
	r.SetEngine(&receipt)
	r.Generated, r.Details, r.View = &f.Generated, f, View
	j.app.Deliver(r)
}

// load loads the model.
func (j *job) load(t *trial.T, d *ane.Device) {
	usual, name := decoder.Compact, d.Info().Name
	if name == engine.Apple || name == engine.StandIn {
		usual = decoder.Engine
	}
	c, _ := j.app.EmulatedChip(name) // none on an engine that emulates no chip
	bar := j.app.Progress(0)
	defer bar.Stop()
	bar.Now("load " + j.folder)
	j.model = trial.Must(decoder.Load(t.Ctx, d, j.files, decoder.WithForm(j.formOr(usual)), decoder.Context(j.context),
		decoder.Chip(c)))
	t.Later(j.model.Close)
}

// start begins the answer.
func (j *job) start(before ...int) {
	if j.began = time.Now(); j.words != nil {
		j.stream = j.words.Stream(before...)
	}
}

// said notes a token that came, and prints it.
func (j *job) said(token int) error {
	f, took := &j.details, time.Since(j.began)
	text, n := " "+strconv.Itoa(token), len(f.Tokens)
	if n > 0 {
		took -= f.First
	} else {
		text, n, f.First = text[1:], 1, took
	}
	f.Tokens = append(f.Tokens, token)
	f.Rate = float64(n) / max(took, 1).Seconds() // the clocks of some systems do not tell short times
	if j.stream != nil {
		text = j.stream.Next(token)
	}
	return j.print(text)
}

// endLine ends the line of the answer.
func (j *job) endLine() error {
	if j.ended = true; j.stream != nil {
		return j.print(j.stream.Flush() + "\n")
	}
	return j.print("\n")
}

// print prints a part of the answer.
func (j *job) print(text string) error {
	return cli.WriteError(cli.Stdio, cli.WriteText(j.answer, text))
}

// prepare checks the flags and files, and settles --max and --context.
func (j *job) prepare(t *trial.T) {
	refuse((j.thaw || j.freeze) && j.snapshot == "", "no snapshot; give --snapshot FILE")
	refuse(j.max < 0, "--max %d; give 0 or more", j.max)
	j.formOr(decoder.Compact)
	if j.acts {
		j.readGuest()
	}
	if target, err := wholefile.Target(j.snapshot); err == nil { // what is saved to a link would replace the link
		j.snapshot = target
	}
	if j.thaw {
		j.peekActor()
	}
	j.open(t)
	if j.text {
		j.words = trial.Must(j.files.Tokenizer())
	}
	c := j.files.Config()
	n := len(j.frozen.Prompt) // of which not all is taken, perhaps; nor is the last token that the actor said
	taken, all := max(j.frozen.Taken, n, 1), max(j.frozen.Taken+1, n)
	switch {
	case j.chat:
		trial.NoError(j.openChat())
		j.talked.Sampler = trial.Must(decoder.NewSampler(j.temperature, j.topP, j.seed))
		if j.context == 0 {
			j.context = min(chatRoom, c.Positions)
		}
		return
	case !j.thaw:
		j.readPrompt(t, c.Vocabulary)
		j.claim()
		all = len(j.talked.Tokens())
		taken = all
	}
	if !j.whole {
		j.max = max(0, min(j.max, c.Positions-all))
	}
	trial.NoError(c.Room(taken, j.max))
	refuse(j.context > 0 && j.context < all+j.max,
		"--context %d for %d tokens and %d new ones; give %d, or leave it out", j.context, all, j.max, all+j.max)
	if j.context == 0 {
		j.context = min(all+j.max, c.Positions)
	}
}

// refuse ends the job with bad input, unless all is well.
func refuse(wrong bool, format string, args ...any) {
	if wrong {
		trial.NoError(cli.Badf(format, args...))
	}
}

// open opens the folder of the model.
func (j *job) open(t *trial.T) {
	refuse(j.folder == "", "no model; give --model FOLDER")
	refuse(j.context < 0, "--context %d; give a number of tokens", j.context)
	trial.NoError(j.app.ReadsModel(j.folder))
	mode := trial.Must(j.details.Choice())
	if j.plan {
		mode = safetensors.MapMode
	}
	j.files = trial.Must(decoder.OpenAs(t.Ctx, j.folder, mode))
	j.details.Set(j.files.File())
	t.Closing(j.files.Close)
	n := j.files.Config().Positions
	refuse(j.context > n, "--context %d; the model has %d positions, give at most as many, or leave it out",
		j.context, n)
}

// formOr returns the form of --form, or without the flag the usual one.
func (j *job) formOr(usual decoder.Form) decoder.Form {
	if j.form == "" {
		return usual
	}
	form, err := decoder.ParseForm(j.form)
	if err != nil {
		trial.NoError(cli.NoSuch("form", j.form, cli.Names(decoder.Forms())))
	}
	return form
}

// readPrompt reads --prompt or --tokens, and the flags of the draws.
func (j *job) readPrompt(t *trial.T, vocabulary int) {
	j.talked.Sampler = trial.Must(decoder.NewSampler(j.temperature, j.topP, j.seed))
	if j.text {
		j.talked.Prompt = j.encode(t, j.words)
	} else {
		j.talked.Prompt = parseTokens(j.tokens)
	}
	refuse(len(j.talked.Prompt) == 0, "the prompt has no token; give one")
	for i, id := range j.talked.Prompt {
		if id >= vocabulary {
			trial.NoError(&decoder.Error{Base: errtext.Base{Op: "generate", Err: decoder.ErrVocabulary,
				Detail: fmt.Sprintf("token %d of the prompt is %d, the model has %d", i, id, vocabulary)}})
		}
	}
}

// parseTokens parses ids separated by commas: digits alone.
func parseTokens(list string) (ids []int) {
	for i, word := range strings.Split(list, ",") {
		id, err := strconv.ParseUint(word, 10, 31)
		refuse(errors.Is(err, strconv.ErrRange), "--tokens: %s is beyond any vocabulary; give ids of the model", word)
		refuse(err != nil, "--tokens: item %d, %q, is not a token; give digits separated by commas, such as 1,2,3", i+1,
			word)
		ids = append(ids, int(id))
	}
	return ids
}

// claim checks the file of --snapshot, which a conversation that begins will write. generate continues the one that it
// has.
func (j *job) claim() {
	path := j.snapshot
	info, err := os.Stat(path)
	switch {
	case path == "":
		return
	case errors.Is(err, fs.ErrNotExist):
		folder, err := os.Stat(filepath.Dir(path))
		refuse(err != nil || !folder.IsDir(),
			"--snapshot %s: its folder does not exist; name a file in a folder that exists", path)
		return
	case err != nil:
		refuse(true, "--snapshot: %w; name a file that can be read and written", err)
	case j.freeze:
		if info.Mode().IsRegular() && info.Size() > 0 {
			_, err = actor.PeekFile(path)
		}
		refuse(err != nil || !info.Mode().IsRegular(),
			"--snapshot %s exists and is not a snapshot of an actor, so it is not replaced; name another file", path)
		return
	}
	refuse(!info.Mode().IsRegular(), "--snapshot %s is no file; name a file", path)
	t := trial.Must(decoder.PeekFile(path))
	refuse(len(t.Extra) > 0, "--snapshot %s is of an actor; use ane-roundtrip actor thaw, or name another file", path)
	refuse(!slices.Equal(t.Prompt, j.talked.Prompt),
		"--snapshot %s is of another prompt, of %d tokens; name another file, or give that prompt", path, len(t.Prompt))
	j.exists, j.talked.Answer = true, t.Answer // which need room; restore checks the model
}

// unsaved is the error of a snapshot that was not written. It hides its cause from bad: a full disk is no bad input.
func unsaved(err error) error {
	if err != nil {
		err = errors.New("--snapshot: " + err.Error())
	}
	return err
}

// bad marks the errors of a folder, a prompt, a snapshot or a guest, which the user has to fix.
func bad(err error) error {
	for _, kind := range []error{decoder.ErrConfig, decoder.ErrArchitecture, decoder.ErrWeights, decoder.ErrNaN,
		decoder.ErrVocabulary, decoder.ErrTooLong, decoder.ErrTokenizer, decoder.ErrSampler, decoder.ErrLimits,
		decoder.ErrSnapshot, actor.ErrSnapshot, actor.ErrGuest, wasm.ErrCode, wasm.ErrLimit, wasm.ErrExport, chat.ErrNone,
		chat.ErrConversation, chat.ErrTemplate, chat.ErrRefused, chat.ErrBudget} {
		if errors.Is(err, kind) {
			return cli.Bad(err)
		}
	}
	return err
}
