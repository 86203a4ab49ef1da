package generate

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/models/decoder"
)

// planDetails are the fields that generate --plan adds to the report.
type planDetails struct {
	Model   string `json:"model"`
	Chip    string `json:"chip"`    // or all: the lowest limit of each kind
	Context int    `json:"context"` // tokens that a session has room for
	Chunk   int    `json:"chunk"`   // tokens of a pass over a prompt
	Stored  int64  `json:"stored_bytes"`
	Keys    int64  `json:"kv_reserved_bytes"`
	needs
}

// needs are what a model takes of a chip.
type needs struct {
	Architecture string                `json:"architecture"`
	Form         string                `json:"form"`
	Programs     []decoder.ProgramPlan `json:"programs"`
	Compiles     int                   `json:"compiles"`
	Loads        int                   `json:"loads"`
	Turns        int                   `json:"loads_in_turns"` // programs loaded for each run of them, one at a time
	Budgets      []decoder.Budget      `json:"budgets"`
}

func needsOf(p decoder.Plan, f *decoder.Folder) needs {
	return needs{f.Config().Architecture, p.Form.String(), p.Programs, p.Compiles, p.Loads, p.Turns,
		append([]decoder.Budget{}, p.Budgets...)}
}

// checkPlan refuses flags that go with a run alone, and --chip that goes with a plan alone.
func (j *job) checkPlan(cmd *cobra.Command) {
	given, looks := cmd.Flags().Changed, j.looks()
	refuse(given("chip") && !j.plan,
		"--chip is for --plan; give both, or --emulate for a run within the limits of a chip")
	flags := []string{"max", "temperature", "top-p", "seed", "snapshot", "quiet", "load", "engine", "broker", "numerics",
		"emulate", "require-ane", "chat"}
	switch looks {
	case "":
		return
	case "--plan":
		flags = append(flags, "prompt", "prompt-file", "tokens", "messages", "render", "show-tokens")
	case "--render":
		flags = append(flags, "prompt", "prompt-file", "tokens", "show-tokens", "form", "context")
	default:
		flags = append(flags, "form", "context")
	}
	for _, name := range flags {
		refuse(given(name), "--%s is for a run, and %s runs nothing; leave one of them out", name, looks)
	}
}

// reportPlan reports the programs of a model beside the limits of a chip, and refuses a model that is beyond one. It
// opens no engine.
func (j *job) reportPlan(t *trial.T) {
	form := j.formOr(decoder.Engine)
	var limits chip.Chip
	if j.chip != "all" {
		c, err := chip.Parse(j.chip)
		trial.NoError(cli.Bad(err))
		limits, j.chip = c, c.String()
	}
	j.open(t)
	f := j.files
	p := trial.Must(decoder.Predict(f, decoder.WithForm(form), decoder.Chip(limits), decoder.Context(j.context)))
	r := cli.NewReport(nil)
	r.View = View
	r.Details = &planDetails{j.folder, j.chip, p.Context, p.Chunk, f.Bytes(), p.CacheBytes, needsOf(p, f)}
	j.app.Deliver(r)
	var over []string
	for _, b := range p.Budgets {
		if b.Over() {
			over = append(over, fmt.Sprintf("%s: %d, at most %d", b.Name, b.Used, b.Limit.Value))
		}
	}
	refuse(over != nil, "the model is beyond limits of the chip: %s; choose another --form, --chip or --context",
		strings.Join(over, "; "))
}
