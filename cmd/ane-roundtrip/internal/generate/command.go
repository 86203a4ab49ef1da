// Package generate has the commands that talk with a language model: generate, its plan, and actor.
package generate

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/unimem/safetensors"
)

// Command returns the command generate.
func Command(a *cli.App) *cobra.Command {
	j := &job{app: a}
	cmd := &cobra.Command{
		Use:   "generate --model FOLDER --prompt TEXT|--messages FILE",
		Short: "Generate text with a language model of the Llama family",
		Long: `generate runs a Llama, Mistral or Qwen from a folder as published. Tokens go to
standard output as they come, figures to standard error. --messages goes through
the model's chat template, other prompts never do. --plan, --render (the text of
--messages) and --show-tokens run nothing; the last two need no weights.`,
		Example: `  ane-roundtrip generate --model Llama-3.2-1B-Instruct-4bit --prompt "Once"
  ane-roundtrip generate --model m --messages talk.json --render
  ane-roundtrip generate --model m --plan --chip m4 --form engine-int8`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return j.do(cmd, func(t *trial.T) {
				j.checkPlan(cmd)
				if j.plan {
					j.reportPlan(t)
					return
				}
				j.checkPrompt(cmd)
				if j.looks() != "" {
					j.look(t)
					return
				}
				refuse(j.snapshot == "" && cmd.Flags().Changed("snapshot"),
					"--snapshot has no name; give --snapshot FILE, or leave it out")
				j.run(t)
			})
		},
	}
	j.modelFlags(cmd)
	j.promptFlags(cmd)
	j.lookFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&j.snapshot, "snapshot", "", "`FILE` that keeps the conversation")
	f.BoolVar(&j.plan, "plan", false, "print what the model takes of a chip, run nothing")
	f.StringVar(&j.chip, "chip", "all", "`CHIP` of --plan: m1 to m6, or all")
	return cmd
}

// ActorCommand returns the command actor.
func ActorCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "actor run|freeze|thaw",
		Short: "Run, freeze and thaw a guest that talks with a language model",
		Long: `actor runs a WebAssembly guest that talks with a language model. Between two
tokens the guest's memory and globals, the tokens, the state of the draws, and
the keys and values of the model can be frozen to one file. From it the actor
continues as if it had never stopped: in another process, on another engine of
equal numerics, or on another machine. A kill at any moment leaves the old file
or the new one, whole.

Without --guest the guest is one that answers the prompt, token by token, as
generate does. The documentation of package models/actor says what a guest may
be. What a guest prints goes to standard error, with control characters other
than line feeds and tabs escaped; what it says does so on a terminal.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.Badf("actor needs a command; give run, freeze or thaw")
		},
	}
	cmd.AddCommand(actorCommand(a, &cobra.Command{
		Use:   "run --model FOLDER (--prompt TEXT | --tokens IDS)",
		Short: "Start an actor and print what it says",
		Long: `run starts an actor with a prompt and prints at most --max tokens that it says,
text for --prompt, ids for --tokens. Figures follow on standard error. It writes
no file.`,
		Example: `  ane-roundtrip actor run --model m --tokens 1,2,3 --max 10
  ane-roundtrip actor run --model m --prompt Hi --guest my.wasm --json`,
	}), actorCommand(a, &cobra.Command{
		Use:   "freeze [FILE] --model FOLDER [flags of a prompt]",
		Short: "Have an actor say some tokens and freeze it to a file",
		Long: `freeze starts an actor with a prompt, has it say at most --max tokens, and
freezes it to FILE, also given by --snapshot, which it replaces. Without a
prompt it thaws the actor in that file, continues it and freezes it to the file
again; the default of --model is then the folder that the file names.`,
		Example: `  ane-roundtrip actor freeze --snapshot a --model m --tokens 1,2,3 --max 10
  ane-roundtrip actor freeze --snapshot a --max 10`,
	}), actorCommand(a, &cobra.Command{
		Use:   "thaw [FILE] [--model FOLDER]",
		Short: "Thaw an actor and print what it says next",
		Long: `thaw continues the actor in FILE, also given by --snapshot, prints at most --max
further tokens, and leaves FILE unchanged. The guest has to be the frozen one:
thaw refuses another one, or another version, and prints the difference. The
default of --model is the folder that the file names.

With the model, weights and numerics that froze the actor, thaw restores its
keys and values, and the actor says what it would have said. If --model names
another model, one with other weights, or the same one for other numerics, the
guest keeps its memory and the tokens, and the model takes all tokens of the
actor again; a note says so. A model of another tokenizer gets the text in its
own tokens, and the guest begins with it. Without --model thaw refuses that.`,
		Example: `  ane-roundtrip actor thaw --snapshot a --max 20
  ane-roundtrip actor thaw --snapshot a --model other --max 20 --json`,
	}))
	return cmd
}

// actorCommand completes a command of actor: run, freeze or thaw.
func actorCommand(a *cli.App, cmd *cobra.Command) *cobra.Command {
	j := &job{app: a, acts: true, freeze: cmd.Name() == "freeze"}
	f := cmd.Flags()
	cmd.Args = cli.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return j.do(cmd, func(t *trial.T) {
			j.checkPrompt(cmd)
			j.thaw = !f.Changed("prompt") && !f.Changed("tokens")
			j.run(t)
		})
	}
	j.modelFlags(cmd)
	f.StringVar(&j.guest, "guest", "", "`FILE` of the guest, a WebAssembly binary (default: one that answers)")
	f.IntVar(&j.memory, "guest-memory", 64, "limit `MIB` of the guest's memory")
	if cmd.Name() == "thaw" {
		f.BoolVar(&j.text, "text", false, "print text in place of ids, by the model's tokenizer.json")
	} else {
		j.promptFlags(cmd)
	}
	if cmd.Name() != "run" {
		f.StringVar(&j.snapshot, "snapshot", "", "`FILE` of the frozen actor")
		cmd.Args = j.snapshotArg
	}
	return cmd
}

// modelFlags adds the flags that all these commands have.
func (j *job) modelFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&j.folder, "model", "", "`FOLDER` of the model")
	f.IntVar(&j.max, "max", 128, "number `N` of new tokens at most")
	f.StringVar(&j.form, "form", "",
		"`FORM` of programs: engine, engine-int8 or compact")
	f.IntVar(&j.context, "context", 0, "room for `N` tokens (default: what the run needs)")
	j.details.Loaded.Flag(cmd, safetensors.AutoMode)
	f.BoolVarP(&j.quiet, "quiet", "q", false, "print the answer alone, without the report")
	j.app.JSONFlag(cmd)
	j.app.ReportFlag(cmd)
	j.app.EngineFlags(cmd)
	j.app.ArithmeticFlags(cmd)
}

// promptFlags adds the flags of a conversation that begins.
func (j *job) promptFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&j.prompt, "prompt", "", "`TEXT` to continue")
	f.StringVar(&j.tokens, "tokens", "", "`IDS` of tokens to continue, separated by commas")
	f.Float64Var(&j.temperature, "temperature", 0, "`T` that divides the logits; 0: the most likely token")
	f.Float64Var(&j.topP, "top-p", 1, "probability `P` of tokens kept for the draw")
	f.Uint64Var(&j.seed, "seed", 0, "seed `S` of the draws")
}

// snapshotArg takes the file of a snapshot as an operand.
func (j *job) snapshotArg(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 1:
		return cli.UnknownOperand(cmd, args[1])
	case len(args) == 1 && j.snapshot != "":
		return cli.Badf("both %s and --snapshot %s name the file; leave one of them out", args[0], j.snapshot)
	case len(args) == 1:
		j.snapshot = args[0]
	}
	return nil
}

// do begins the report and does the work of a command.
func (j *job) do(cmd *cobra.Command, work func(*trial.T)) error {
	given := cmd.Flags().Changed
	j.text, j.whole = j.text || given("prompt") || given("prompt-file") || given("messages") || j.chat,
		given("max")
	files := []cli.Input{{Flag: "--snapshot", Path: j.snapshot}, {Flag: "--guest", Path: j.guest},
		{Flag: "--prompt-file", Path: j.promptFile}, {Flag: "--messages", Path: j.messages}}
	if err := j.app.BeginReport(cmd, files...); err != nil {
		return err
	}
	if err := cli.Conflict(cmd, "quiet", "json", "which prints no tables"); err != nil {
		return err
	}
	_, err := trial.Step{Run: work}.Make(cmd.Context())
	return bad(err)
}

// checkPrompt refuses a prompt that is missing or given twice. Thaw has none, and freeze needs none, but then refuses
// the other flags of a new actor.
func (j *job) checkPrompt(cmd *cobra.Command) {
	f, name := cmd.Flags(), strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	for _, flag := range []string{"prompt", "tokens", "prompt-file", "snapshot"} {
		refuse(j.chat && f.Changed(flag), "--%s is no part of --chat, which reads standard input; leave one of them out", flag)
	}
	if j.chat {
		return
	}
	n := 0
	for _, flag := range []string{"prompt", "tokens", "prompt-file", "messages"} {
		if f.Changed(flag) {
			n++
		}
	}
	all, least := "--prompt and --tokens", 1
	if !j.acts {
		all = "--prompt, --prompt-file, --messages and --tokens"
	} else if cmd.Name() != "run" {
		least = 0
	}
	refuse(n > 1 || n < least, "%s takes one of %s; give --prompt TEXT or --tokens 1,2,3", name, all)
	for _, name := range []string{"temperature", "top-p", "seed"} {
		refuse(f.Changed(name) && n == 0,
			"--%s is for a new actor; give a prompt too, or leave it out: the file has the draws", name)
	}
}
