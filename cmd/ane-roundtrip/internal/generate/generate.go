package generate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/models/decoder"
)

// generateOptions are the flags of generate.
type generateOptions struct {
	model, prompt, tokens, form, snapshot string
	max, context                          int
	temperature, topP                     float64
	seed                                  uint64
	plan, quiet                           bool
	chip                                  string // of plan

	text, whole bool // --prompt is given; --max is given
}

// defaultMax is the number of new tokens without --max, as far as the model has positions.
const defaultMax = 128

// Command returns the command generate.
func Command(a *cli.App) *cobra.Command {
	var o generateOptions
	cmd := &cobra.Command{
		Use:   "generate --model FOLDER (--prompt TEXT | --tokens IDS)",
		Short: "Generate text with a language model of the Llama family",
		Long: `generate reads a folder as published (Llama 2 and 3, TinyLlama, Qwen 2 and 3),
and prints tokens as they come: text for --prompt, ids for --tokens. The figures
follow on standard error. --snapshot FILE keeps the conversation, and continues
the one that FILE has. --form engine writes programs within the limits of
Apple's chips, engine-int8 with weights of int8, compact with weights as stored.
--plan opens no engine: it prints programs and bytes beside the limits of a
chip; the status is 2 if one is exceeded.`,
		Example: `  ane-roundtrip generate --model Llama-3.2-1B-Instruct-4bit --prompt "Once"
  ane-roundtrip generate --model m --prompt Hi --snapshot talk.kv --max 50
  ane-roundtrip generate --model m --plan --chip m4 --form engine-int8`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.BeginReport(cmd, cli.Input{Flag: "--snapshot", Path: o.snapshot}); err != nil {
				return err
			}
			if err := o.checkPlan(cmd); err != nil {
				return err
			}
			if err := cli.Conflict(cmd, "quiet", "json", "which prints no tables"); err != nil {
				return err
			}
			if o.plan {
				return planModel(a, o)
			}
			o.text, o.whole = cmd.Flags().Changed("prompt"), cmd.Flags().Changed("max")
			if o.text == cmd.Flags().Changed("tokens") {
				return cli.Badf("generate takes one of --prompt and --tokens; give --prompt TEXT or --tokens 1,2,3")
			}
			if o.snapshot == "" && cmd.Flags().Changed("snapshot") {
				return cli.Badf("--snapshot has no name; give --snapshot FILE, or leave it out")
			}
			return generate(a, cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.model, "model", "", "`FOLDER` of the model")
	f.StringVar(&o.prompt, "prompt", "", "`TEXT` to continue")
	f.StringVar(&o.tokens, "tokens", "", "`IDS` of tokens to continue, separated by commas")
	f.IntVar(&o.max, "max", defaultMax, "number `N` of new tokens at most")
	f.Float64Var(&o.temperature, "temperature", 0, "`T` that divides the logits; 0: the most likely token")
	f.Float64Var(&o.topP, "top-p", 1, "probability `P` of the tokens kept for the draw")
	f.Uint64Var(&o.seed, "seed", 0, "seed `S` of the draws")
	f.StringVar(&o.snapshot, "snapshot", "", "`FILE` that keeps the conversation")
	f.StringVar(&o.form, "form", "",
		"`FORM` of the programs: engine, engine-int8 or compact")
	f.IntVar(&o.context, "context", 0, "room for `N` tokens (default: what the run needs)")
	f.BoolVar(&o.plan, "plan", false, "print what the model takes of a chip, run nothing")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print the answer alone, without the report")
	f.StringVar(&o.chip, "chip", "all", "`CHIP` of --plan: m1 to m6, or all")
	a.JSONFlag(cmd)
	a.ReportFlag(cmd)
	a.EngineFlags(cmd)
	a.ArithmeticFlags(cmd)
	return cmd
}

// generateJob holds the state of one run of generate.
type generateJob struct {
	app     *cli.App
	o       generateOptions
	folder  *decoder.Folder
	words   *decoder.Tokenizer // nil for token ids
	prompt  []int
	sampler *decoder.Sampler
	talk    decoder.Talk
	answer  io.Writer // gets the tokens as they come
	exists  bool      // --snapshot names a file

	model   *decoder.Model
	session *decoder.Session
	notes   []string
	figures generateDetails
	saved   int // tokens in the snapshot
}

func generate(a *cli.App, ctx context.Context, o generateOptions) error {
	j := &generateJob{app: a, o: o, answer: a.Out}
	if !a.JSON { // the answer has standard output for itself
		a.Out = a.Err
	}
	begin := time.Now()
	return badModel(j.onModel(ctx, j.prepare, func(d *ane.Device) (err error) {
		if j.session, err = j.model.NewSession(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, j.session.Close()) }()
		if j.exists {
			if err := j.restore(ctx); err != nil {
				return err
			}
		} else if o.snapshot != "" { // reads all weights; later those of the programs would be resident beside
			if _, err := j.folder.Fingerprint(ctx); err != nil {
				return err
			}
		}
		j.figures.Load = time.Since(begin)
		debug.FreeOSMemory() // what compiling needed
		if err := j.run(ctx); err != nil {
			return err
		}
		return j.report(d)
	}))
}

// prepare checks the flags and files before an engine is opened.
func (j *generateJob) prepare() (err error) {
	o := &j.o
	switch {
	case o.model == "":
		return cli.Badf("no model; give --model FOLDER")
	case o.max < 0:
		return cli.Badf("--max %d; give 0 or more", o.max)
	case o.context < 0:
		return cli.Badf("--context %d; give a number of tokens", o.context)
	}
	if err := o.checkForm(); err != nil {
		return err
	}
	if j.sampler, err = decoder.NewSampler(o.temperature, o.topP, o.seed); err != nil {
		return err
	}
	var ids []int
	if !o.text {
		if ids, err = parseTokens(o.tokens); err != nil {
			return err
		}
	}
	if err := j.app.ReadsModel(o.model); err != nil {
		return err
	}
	if j.folder, err = decoder.Open(o.model); err != nil {
		return err
	}
	c := j.folder.Config()
	if o.text {
		if j.words, err = j.folder.Tokenizer(); err != nil {
			return err
		}
		if ids, err = j.words.Encode(o.prompt); err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		return cli.Badf("the prompt has no token; give one")
	}
	for i, id := range ids {
		if id < 0 || id >= c.Vocabulary {
			return &decoder.Error{Op: "generate", Err: decoder.ErrVocabulary,
				Detail: fmt.Sprintf("token %d of the prompt is %d, the model has %d", i, id, c.Vocabulary)}
		}
	}
	j.prompt, j.talk = ids, decoder.Talk{Prompt: ids, Sampler: j.sampler}
	if err := j.peek(); err != nil {
		return err
	}
	taken := len(j.talk.Prompt) + len(j.talk.Answer)
	if !o.whole {
		o.max = max(0, min(o.max, c.Positions-taken))
	}
	if err := c.Room(taken, o.max); err != nil {
		return err
	}
	if o.context == 0 {
		o.context = taken + o.max
	}
	if o.context-taken < o.max {
		return cli.Badf("--context %d for %d tokens and %d new ones; give %d, or leave it out", o.context, taken, o.max,
			taken+o.max)
	}
	return checkContext(o.context, c)
}

// checkContext refuses room for more tokens than the model has positions.
func checkContext(context int, c decoder.Config) error {
	if context > c.Positions {
		return cli.Badf("--context %d; the model has %d positions, give at most as many, or leave it out", context,
			c.Positions)
	}
	return nil
}

// parseTokens parses ids separated by commas: digits alone.
func parseTokens(list string) (ids []int, err error) {
	for i, word := range strings.Split(list, ",") {
		id, err := strconv.ParseUint(word, 10, 31)
		if errors.Is(err, strconv.ErrRange) {
			return nil, cli.Badf("--tokens: %s is beyond any vocabulary; give ids of the model", word)
		}
		if err != nil {
			return nil, cli.Badf("--tokens: item %d, %q, is not a token; give digits separated by commas, such as 1,2,3",
				i+1, word)
		}
		ids = append(ids, int(id))
	}
	return ids, nil
}

// peek reads the tokens of the snapshot, so that a run that cannot succeed is refused before an engine is opened.
func (j *generateJob) peek() error {
	path := j.o.snapshot
	if path == "" {
		return nil
	}
	j.o.snapshot = followLinks(path)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if info, err := os.Stat(filepath.Dir(j.o.snapshot)); err != nil || !info.IsDir() {
			return cli.Badf("--snapshot %s: its folder does not exist; name a file in a folder that exists", path)
		}
		return nil
	case err != nil:
		return cli.Badf("--snapshot: %w; name a file that can be read and written", err)
	case !info.Mode().IsRegular():
		return cli.Badf("--snapshot %s is no file; name a file", path)
	}
	t, err := decoder.PeekFile(path)
	if err != nil {
		return err
	}
	if len(t.Extra) > 0 {
		return cli.Badf("--snapshot %s is of an actor; use ane-roundtrip actor thaw, or name another file", path)
	}
	if !slices.Equal(t.Prompt, j.prompt) {
		return cli.Badf("--snapshot %s is of another prompt, of %d tokens; name another file, or give that prompt", path,
			len(t.Prompt))
	}
	j.exists = true
	j.talk.Answer = t.Answer // Room needs their number; restore checks the model
	return nil
}

// restore goes on with the snapshot.
func (j *generateJob) restore(ctx context.Context) error {
	begin := time.Now()
	t, err := j.session.RestoreFile(ctx, j.o.snapshot, j.prompt)
	if err != nil {
		return err
	}
	if t.Sampler == nil {
		t.Sampler = j.sampler
	}
	temperature, topP, seed := t.Sampler.Settings()
	if temperature != j.o.temperature || topP != j.o.topP || seed != j.o.seed {
		j.notes = append(j.notes, fmt.Sprintf("the snapshot was drawn with temperature %v, top-p %v, seed %d; "+
			"this run begins its own draws", temperature, topP, seed))
		t.Sampler = j.sampler
	}
	j.talk = t
	j.saved = len(t.Prompt) + len(t.Answer)
	j.figures.Restored, j.figures.Restore = j.session.Position(), time.Since(begin)
	return nil
}

// saveEvery is the least number of tokens between two snapshots while tokens come. A snapshot takes time in
// proportion to its tokens, so that there are fewer of a long conversation.
const saveEvery = 32

// run generates and prints the tokens as they come.
func (j *generateJob) run(ctx context.Context) (err error) {
	g := &j.figures
	g.Generated = cli.Generated{Tokens: []int{}}
	copied := j.session.Copied()
	begin := time.Now()
	var first, last time.Time
	defer func() { g.Copied = j.session.Copied() - copied }()
	if _, err := j.session.Answer(ctx, &j.talk, 0, nil); err != nil {
		return err
	}
	g.Prompt = time.Since(begin)
	if err := j.save(ctx, j.saved == 0); err != nil {
		return err
	}
	show := j.printer()
	before := len(j.talk.Answer)
	ended, err := j.session.Answer(ctx, &j.talk, j.o.max, func(token int) error {
		if last = time.Now(); first.IsZero() {
			first = last
		}
		if err := show(token); err != nil {
			return err
		}
		position := len(j.talk.Prompt) + len(j.talk.Answer)
		return j.save(ctx, position-j.saved >= max(saveEvery, j.saved/8))
	})
	g.Tokens = append(g.Tokens, j.talk.Answer[before:]...)
	if e := j.save(context.WithoutCancel(ctx), len(j.talk.Prompt)+len(j.talk.Answer) > j.saved); err == nil {
		err = e
	}
	if err != nil {
		if len(g.Tokens) > 0 {
			err = errors.Join(err, show(-1)) // the error begins a line
		}
		return err
	}
	if g.Stopped = "max"; ended {
		g.Stopped = "eos"
	}
	if n := len(g.Tokens); n > 0 {
		g.First = first.Sub(begin)
		g.Rate = eachSecond(1, g.First)
		if n > 1 {
			g.Rate = eachSecond(n-1, last.Sub(first))
		}
	}
	if j.words != nil {
		g.Text = j.words.Decode(g.Tokens)
	}
	return show(-1)
}

// save writes the snapshot, if --snapshot names one and enough tokens are new.
func (j *generateJob) save(ctx context.Context, due bool) error {
	if j.o.snapshot == "" || !due {
		return nil
	}
	begin := time.Now()
	if err := j.session.SaveFile(ctx, j.o.snapshot, j.talk); err != nil {
		return fmt.Errorf("--snapshot: %w", notBad{err})
	}
	j.saved = len(j.talk.Prompt) + len(j.talk.Answer)
	j.figures.Saves++
	j.figures.Save += time.Since(begin)
	return nil
}

// notBad hides an error from badModel: a disk that is full is no bad input.
type notBad struct{ err error }

func (n notBad) Error() string { return n.err.Error() }

// printer returns what prints a token as it comes, and the end of the line for -1.
func (j *generateJob) printer() func(token int) error {
	a := j.app
	if a.JSON {
		return func(int) error { return nil }
	}
	write := func(text string) error { return cli.WriteError(cli.Stdio, cli.WriteText(j.answer, text)) }
	if j.words == nil {
		between := ""
		return func(token int) error {
			if token < 0 {
				return write("\n")
			}
			text := between + strconv.Itoa(token)
			between = " "
			return write(text)
		}
	}
	stream := j.words.Stream(j.talk.Tokens()...)
	return func(token int) error {
		if token < 0 {
			return write(stream.Flush() + "\n")
		}
		return write(stream.Next(token))
	}
}
