package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/wasm"
	"github.com/anekit/anekit/models/actor"
	"github.com/anekit/anekit/models/decoder"
)

// actorOptions are the flags of actor beside those of generate.
type actorOptions struct {
	generateOptions
	guest  string
	memory int  // of the guest, in MiB
	words  bool // --text of thaw
}

func (a *app) actorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "actor run|freeze|thaw",
		Short: "Run, freeze and thaw a guest that talks with a language model",
		Long: `actor runs a WebAssembly guest that talks with a language model. Between two
tokens the guest's memory and globals, the tokens, the state of the draws, and
the keys and values of the model can be frozen to one file, from which the actor
goes on as if it had never stopped: in another process, on another engine of
equal numerics, or on another machine. The file is an old one or the new one,
whole, also after a kill at any moment.

Without --guest the guest is one that answers the prompt, token by token, as
generate does. docs/PACKAGES.md, package models/actor, says what a guest may be.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return badf("actor needs a command; give run, freeze or thaw")
		},
	}
	cmd.AddCommand(a.actorRunCommand(), a.actorFreezeCommand(), a.actorThawCommand())
	return cmd
}

func (a *app) actorRunCommand() *cobra.Command {
	var o actorOptions
	cmd := &cobra.Command{
		Use:   "run --model FOLDER (--prompt TEXT | --tokens IDS)",
		Short: "Start an actor and print what it says",
		Long: `run starts an actor with a prompt and prints at most --max tokens that it says,
text behind --prompt, ids behind --tokens, and figures. It writes no file.`,
		Example: `  ane-roundtrip actor run --model m --tokens 1,2,3 --max 10
  ane-roundtrip actor run --model m --prompt Hi --guest my.wasm --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.beginReport(cmd, &commandFiles{app: a}, o.files()...); err != nil {
				return err
			}
			if err := o.prompted(cmd, true); err != nil {
				return err
			}
			return a.actor(cmd.Context(), o, actorWork{})
		},
	}
	a.actorFlags(cmd, &o)
	promptFlags(cmd, &o)
	return cmd
}

func (a *app) actorFreezeCommand() *cobra.Command {
	var o actorOptions
	cmd := &cobra.Command{
		Use:   "freeze [FILE] --model FOLDER [flags of a prompt]",
		Short: "Have an actor say some tokens and freeze it to a file",
		Long: `freeze starts an actor with a prompt, has it say at most --max tokens, and
freezes it to FILE, also given by --snapshot, which it replaces. Without a
prompt it thaws the actor in that file, which goes on and is frozen to the file
again; --model is then the folder that the file names, unless it is given.`,
		Example: `  ane-roundtrip actor freeze --snapshot a --model m --tokens 1,2,3 --max 10
  ane-roundtrip actor freeze --snapshot a --max 10`,
		Args: o.snapshotArg,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.beginReport(cmd, &commandFiles{app: a}, o.files()...); err != nil {
				return err
			}
			if err := o.prompted(cmd, false); err != nil {
				return err
			}
			begun := cmd.Flags().Changed("prompt") || cmd.Flags().Changed("tokens")
			return a.actor(cmd.Context(), o, actorWork{thaw: !begun, freeze: true})
		},
	}
	a.actorFlags(cmd, &o)
	promptFlags(cmd, &o)
	cmd.Flags().StringVar(&o.snapshot, "snapshot", "", "`FILE` of the frozen actor")
	return cmd
}

func (a *app) actorThawCommand() *cobra.Command {
	var o actorOptions
	cmd := &cobra.Command{
		Use:   "thaw [FILE] [--model FOLDER]",
		Short: "Thaw an actor and print what it says next",
		Long: `thaw goes on with the actor in FILE, also given by --snapshot, which stays as it
is, and prints at most --max further tokens. The guest has to be the one that
was frozen: another one, or another version, is refused with what differs.
Without --model the model is that of the folder that the file names.

With the model, weights and numerics that froze the actor, its keys and values
are restored, and it says what it would have said. With another --model, other
weights or other numerics the guest keeps its memory and the tokens, and the
model takes all tokens of the actor again; a note says so.`,
		Example: `  ane-roundtrip actor thaw --snapshot a --max 20
  ane-roundtrip actor thaw --snapshot a --model other --max 20 --json`,
		Args: o.snapshotArg,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.beginReport(cmd, &commandFiles{app: a}, o.files()...); err != nil {
				return err
			}
			o.whole = cmd.Flags().Changed("max")
			return a.actor(cmd.Context(), o, actorWork{thaw: true})
		},
	}
	a.actorFlags(cmd, &o)
	cmd.Flags().StringVar(&o.snapshot, "snapshot", "", "`FILE` of the frozen actor")
	cmd.Flags().BoolVar(&o.words, "text", false, "print text in place of ids, by the model's tokenizer.json")
	return cmd
}

// files are the files of the flags.
func (o *actorOptions) files() []input {
	return append(named("--snapshot", o.snapshot), named("--guest", o.guest)...)
}

// snapshotArg takes the file of a snapshot as an operand.
func (o *actorOptions) snapshotArg(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 1:
		return unknownOperand(cmd, args[1])
	case len(args) == 1 && o.snapshot != "":
		return badf("both %s and --snapshot %s name the file; leave one of them out", args[0], o.snapshot)
	case len(args) == 1:
		o.snapshot = args[0]
	}
	return nil
}

// actorFlags adds the flags that all commands of actor have.
func (a *app) actorFlags(cmd *cobra.Command, o *actorOptions) {
	f := cmd.Flags()
	f.StringVar(&o.model, "model", "", "`FOLDER` of the model")
	f.StringVar(&o.guest, "guest", "", "`FILE` of the guest, a WebAssembly binary (default: one that answers)")
	f.IntVar(&o.memory, "guest-memory", 64, "limit `MIB` of the guest's memory")
	f.IntVar(&o.max, "max", defaultMax, "number `N` of tokens to say at most")
	f.StringVar(&o.form, "form", "",
		"`FORM` of the programs: engine, engine-int8 or compact (default: engine on Apple's engine, else compact)")
	f.IntVar(&o.context, "context", 0, "room for `N` tokens (default: what the run needs)")
	a.reportFlag(cmd)
	a.saveFlag(cmd)
	a.engineFlags(cmd)
	a.numericsFlag(cmd)
	a.emulateFlag(cmd)
}

// promptFlags adds the flags of an actor that begins.
func promptFlags(cmd *cobra.Command, o *actorOptions) {
	f := cmd.Flags()
	f.StringVar(&o.prompt, "prompt", "", "`TEXT` that the guest reads")
	f.StringVar(&o.tokens, "tokens", "", "`IDS` of tokens that the guest reads, separated by commas")
	f.Float64Var(&o.temperature, "temperature", 0, "`T` by which logits are divided; 0 takes the most likely token")
	f.Float64Var(&o.topP, "top-p", 1, "probability `P` of the tokens that are kept for the draw")
	f.Uint64Var(&o.seed, "seed", 0, "seed `S` of the draws")
}

// prompted notes which of the flags of a prompt are given. Without one, those of a new actor are refused.
func (o *actorOptions) prompted(cmd *cobra.Command, need bool) error {
	f := cmd.Flags()
	o.text, o.whole = f.Changed("prompt"), f.Changed("max")
	ids := f.Changed("tokens")
	switch {
	case o.text && ids, need && !o.text && !ids:
		return badf("actor %s takes one of --prompt and --tokens; give --prompt TEXT or --tokens 1,2,3", cmd.Name())
	case o.text || ids:
		return nil
	}
	for _, name := range []string{"temperature", "top-p", "seed"} {
		if f.Changed(name) {
			return badf("--%s is for a new actor; give a prompt too, or leave it out: the file has the draws", name)
		}
	}
	return nil
}

// actorWork is what a command of actor does beside talking.
type actorWork struct{ thaw, freeze bool }

// actorJob holds the state of one run of actor.
type actorJob struct {
	generateJob
	o       actorOptions
	work    actorWork
	binary  []byte
	actor   *actor.Actor
	figures actorDetails
}

func (a *app) actor(ctx context.Context, o actorOptions, work actorWork) error {
	j := &actorJob{generateJob: generateJob{app: a, o: o.generateOptions}, o: o, work: work}
	begin := time.Now()
	return badActor(j.onModel(ctx, j.prepare, func(d *ane.Device) (err error) {
		host, err := actor.NewHost(ctx, d, j.model)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, host.Close(ctx)) }()
		code, err := host.Load(ctx, j.binary)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, code.Close(ctx)) }()
		if err := j.begin(ctx, code); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, j.actor.Close(ctx)) }()
		j.figures.Load = time.Since(begin)
		if err := j.talkOn(ctx); err != nil {
			return err
		}
		return j.report(d)
	}))
}

// badActor marks the errors of a guest or a snapshot that the user has to fix, and those of badModel.
func badActor(err error) error {
	var e *actor.Error
	if errors.As(err, &e) && (errors.Is(err, actor.ErrSnapshot) || errors.Is(err, actor.ErrGuest)) {
		return badInput{err: err, hint: e.Hint}
	}
	if errors.Is(err, wasm.ErrCode) || errors.Is(err, wasm.ErrLimit) || errors.Is(err, wasm.ErrExport) {
		return bad(err)
	}
	return badModel(err)
}

// prepare checks the flags and files before an engine is opened.
func (j *actorJob) prepare() (err error) {
	o := &j.o
	if (j.work.thaw || j.work.freeze) && o.snapshot == "" {
		return badf("no snapshot; give --snapshot FILE")
	}
	if err := o.checkForm(); err != nil {
		return err
	}
	if o.memory < 1 || o.memory > 4096 {
		return badf("--guest-memory %d; give 1 to 4096", o.memory)
	}
	j.binary = actor.Talker()
	if o.guest != "" {
		if j.binary, err = guestFile(o.guest); err != nil {
			return err
		}
	}
	j.figures.Guest, j.figures.Sum = o.guest, fmt.Sprintf("%x", sha256.Sum256(j.binary))
	if o.guest == "" {
		j.figures.Guest = "talker"
	}
	if !j.work.thaw {
		if dir := filepath.Dir(o.snapshot); o.snapshot != "" {
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				return badf("--snapshot %s: its folder does not exist; name a file in a folder that exists", o.snapshot)
			}
		}
		if err := replaceable(o.snapshot); err != nil {
			return err
		}
		o.snapshot = followLinks(o.snapshot)
		j.generateJob.o.snapshot = "" // an actor that begins reads none
		err := j.generateJob.prepare()
		j.o.max, j.o.context = j.generateJob.o.max, j.generateJob.o.context
		return err
	}
	info, err := actor.PeekFile(o.snapshot)
	o.snapshot = followLinks(o.snapshot)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return badf("--snapshot %s does not exist; freeze an actor first, with a prompt", o.snapshot)
	case err != nil:
		return err
	}
	if o.model == "" {
		if o.model = info.Note; o.model == "" {
			return badf("no model, and %s names none; give --model FOLDER", o.snapshot)
		}
	}
	if err := j.app.readsModel(o.model); err != nil {
		return err
	}
	if j.folder, err = decoder.Open(o.model); err != nil {
		return err
	}
	if o.words {
		if j.words, err = j.folder.Tokenizer(); err != nil {
			return err
		}
	}
	c := j.folder.Config()
	taken := info.Taken + 1 // the last token that the actor said is perhaps not taken yet
	room := info.Taken
	if info.Taken == 0 { // the guest has the prompt to read
		taken = max(1, len(info.Prompt))
		room = taken
	}
	switch {
	case o.max < 0:
		return badf("--max %d; give 0 or more", o.max)
	case o.context < 0 || o.context > 0 && o.context < taken+o.max:
		return badf("--context %d for %d tokens and %d new ones; give %d, or leave it out", o.context, taken, o.max,
			taken+o.max)
	case !o.whole:
		o.max = max(0, min(o.max, c.Positions-taken))
	}
	if err := c.Room(room, o.max); err != nil {
		return err
	}
	if o.context == 0 {
		o.context = min(taken+o.max, c.Positions)
	}
	j.generateJob.o.context = o.context
	return checkContext(o.context, c)
}

// replaceable refuses a file that freeze would replace and that is no actor, such as one of the model, of the guest or
// of generate.
func replaceable(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() && info.Size() == 0 {
		return nil
	}
	if info.Mode().IsRegular() {
		if _, err = actor.PeekFile(path); err == nil {
			return nil
		}
	}
	return badf("--snapshot %s exists and is no snapshot of an actor, so it is not replaced; name another file", path)
}

// begin starts or thaws the actor.
func (j *actorJob) begin(ctx context.Context, code *actor.Code) (err error) {
	config := actor.Config{Prompt: j.prompt, Sampler: j.sampler,
		Limits: wasm.Limits{Memory: j.o.memory << 20, Output: guestOutput{j.app.err}}}
	if config.Note, err = filepath.Abs(j.o.model); err != nil {
		return err
	}
	if !j.work.thaw {
		j.actor, err = code.Start(ctx, config)
		return err
	}
	begin := time.Now()
	j.actor, err = code.Thaw(ctx, j.o.snapshot, config)
	if errors.Is(err, actor.ErrModel) {
		j.notes = append(j.notes, "the cache was filled by prefill: another model, weights or numerics")
		j.actor, err = code.Move(ctx, j.o.snapshot, config)
	}
	if err != nil {
		return err
	}
	f := &j.figures
	f.Thaw, f.Moved = time.Since(begin), j.actor.Moved()
	if f.Moved == 0 {
		f.Restored = j.actor.Session().Position()
	}
	return nil
}

// talkOn has the actor say its tokens, and freezes it.
func (j *actorJob) talkOn(ctx context.Context) error {
	f := &j.figures
	f.generated = generated{Tokens: []int{}}
	begin := time.Now()
	var first, last time.Time
	j.talk = decoder.Talk{Prompt: j.actor.Prompt(), Answer: j.actor.Said()}
	show := j.printer()
	f.Stopped = "max"
	before := j.actor.Copied()
	for range j.o.max {
		token, err := j.actor.Next(ctx)
		if errors.Is(err, actor.ErrEnd) {
			f.Stopped = "end"
			break
		}
		if err != nil {
			return err
		}
		if last = time.Now(); first.IsZero() {
			first = last
		}
		f.Tokens = append(f.Tokens, token)
		if err := show(token); err != nil {
			return err
		}
	}
	if j.actor.Ended() {
		f.Stopped = "end"
	}
	f.Copied = j.actor.Copied() - before
	if n := len(f.Tokens); n > 0 {
		f.First = first.Sub(begin)
		f.Rate = eachSecond(1, f.First)
		if n > 1 {
			f.Rate = eachSecond(n-1, last.Sub(first))
		}
	}
	if err := show(-1); err != nil {
		return err
	}
	if !j.work.freeze {
		return nil
	}
	begin = time.Now()
	if err := j.actor.Freeze(ctx, j.o.snapshot); err != nil {
		return fmt.Errorf("--snapshot: %w", notBad{err})
	}
	f.Freeze = time.Since(begin)
	info, err := os.Stat(j.o.snapshot)
	if err == nil {
		f.Snapshot = info.Size()
	}
	return err
}

// maxGuest is the size in bytes of the largest guest.
const maxGuest = 256 << 20

// guestFile reads the binary of a guest. It waits for no pipe, and reads no device that has no end.
func guestFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, badf("--guest: %w; name a WebAssembly binary", err)
	case !info.Mode().IsRegular() || info.Size() > maxGuest:
		return nil, badf("--guest %s is no file of at most %d bytes; name a WebAssembly binary", path, maxGuest)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, badf("--guest: %w; name a WebAssembly binary", err)
	}
	return b, nil
}

// guestOutput writes what a guest prints, with what would control a terminal escaped.
type guestOutput struct{ w io.Writer }

// Write implements io.Writer.
func (o guestOutput) Write(b []byte) (int, error) {
	for line := range strings.SplitAfterSeq(string(b), "\n") {
		text, end := strings.CutSuffix(line, "\n")
		text = visible(text)
		if end {
			text += "\n"
		}
		if _, err := io.WriteString(o.w, text); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}
