package lint

import (
	"slices"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/internal/ops"
)

// finder finds what a rule is about.
type finder struct {
	kinds    []string                                  // operators that node is called for; none: all
	chips    []chip.Chip                               // that the rule is checked for; none: all
	each     bool                                      // checked for each chip: the check reads spec
	node     func(c *check, n *ops.Node)               // called for each statement that an engine runs, or a weight
	folded   bool                                      // node is called for statements too that compiling computes
	surface  func(c *check, side string, v *ops.Value) // called for each input and output of fixed shape
	function func(c *check, f *ops.Graph)
	once     func(c *check)
}

// finders has the finder of each rule of rules.json, but for those that ops.Place finds, those of ranges and "many". It
// is no variable: a program that never lints need not link the checks.
func finders() map[string]finder {
	return map[string]finder{
		"attention-mask":       {kinds: []string{"scaled_dot_product_attention"}, node: checkMask},
		"attention-size":       {each: true, kinds: []string{"scaled_dot_product_attention"}, node: checkAttention},
		"bare-literal":         {folded: true, node: checkBare},
		"blob-offset":          {once: checkOffset},
		"blob-overlap":         {once: checkOverlap},
		"blob-path":            {once: checkPath},
		"build-info":           {once: checkBuildInfo},
		"concat-interleave":    {kinds: []string{"concat"}, node: checkNeeded("interleave")},
		"const-name":           {function: checkLabel},
		"conv-bias":            {kinds: convs, node: checkBias},
		"conv-chain":           {each: true, function: checkChain},
		"conv-groups":          {kinds: []string{"conv"}, node: checkGroups},
		"cpu-small":            {function: checkCPUSmall},
		"dead-output":          {function: checkDead},
		"domain":               {kinds: []string{"log", "sqrt", "rsqrt"}, node: checkDomain},
		"dynamic-conv-ignored": {each: true, kinds: convs, node: checkDynamicIgnored},
		"dynamic-shape":        {once: checkShapes},
		"einsum-equation":      {kinds: []string{"einsum"}, node: checkEinsum},
		"elementwise-chain":    {each: true, chips: []chip.Chip{chip.M6}, function: checkElementwise},
		"epsilon-missing":      {kinds: []string{"rsqrt", "log", "inverse"}, node: checkNeeded("epsilon")},
		"equal-sizes":          {function: checkEqual},
		"fp32-arithmetic":      {node: checkFP32},
		"fp32-io":              {each: true, chips: []chip.Chip{chip.M1, chip.M2}, surface: checkWide},
		"fused-square": {each: true, chips: []chip.Chip{chip.M5}, node: checkSquare,
			kinds: []string{"reduce_sum", "reduce_mean", "reduce_sum_square"}},
		"gelu-mode":        {kinds: []string{"gelu"}, node: checkNeeded("mode")},
		"gelu-modes":       {each: true, kinds: []string{"gelu"}, chips: []chip.Chip{chip.M6}, node: checkGeluModes},
		"int8-sum":         {kinds: convs, node: checkInt8Sum},
		"inverse-epsilon":  {kinds: []string{"inverse"}, node: checkInverse},
		"joined-branches":  {each: true, chips: []chip.Chip{chip.M1}, node: checkBranches},
		"kernel-rewritten": {each: true, kinds: convs, node: checkRewritten},
		"literal-range":    {function: checkLiterals},
		"load-budget":      {each: true, once: checkLoads},
		"many-operands":    {each: true, node: checkOperands},
		"missing-argument": {node: checkMissing},
		"nan-number":       {function: checkNaN},
		"nested-const":     {folded: true, node: checkNested},
		"odd-tiles":        {each: true, node: checkTiles},
		"old-dialect":      {each: true, chips: []chip.Chip{chip.M1, chip.M2}, once: checkDialect},
		"only-views":       {function: checkViews},
		"opset-os":         {function: checkOpset},
		"opset-unknown":    {function: checkOpsetKnown},
		"padded-width":     {surface: checkWidth},
		"palette-3bit":     {each: true, kinds: []string{"constexpr_lut_to_dense"}, node: checkPalette3},
		"reshape-open":     {kinds: []string{"reshape"}, node: checkOpen},
		"round-offset":     {each: true, kinds: []string{"round"}, chips: []chip.Chip{chip.M5}, node: checkRound},
		"rounded-product":  {each: true, kinds: []string{"mul"}, chips: []chip.Chip{chip.M5}, node: checkRounded},
		"shared-names":     {once: checkShared},
		"slice-scale":      {each: true, kinds: []string{"slice_by_index", "slice_by_size", "split"}, node: checkSlice},
		"slice-shuffle":    {each: true, kinds: []string{"concat"}, node: checkShuffle},
		"small-epsilon":    {node: checkEpsilon},
		"small-surface":    {surface: checkSmall},
		"state-width":      {each: true, surface: checkStateWidth},
		"softmax-size":     {kinds: []string{"softmax"}, node: checkSoftmax},
		"softplus-zero":    {each: true, kinds: []string{"softplus", "reduce_log_sum_exp"}, node: checkSoftplus},
		"split-convs":      {each: true, chips: []chip.Chip{chip.M6}, function: checkSplit},
		"syntax":           {once: checkSyntax},
		"table-error":      {once: checkTables},
		"tile-poison":      {each: true, kinds: []string{"tile"}, node: checkPoison},
		"types":            {function: checkTypes},
		"unknown-operator": {folded: true, node: checkUnknown},
		"unsorted-inputs":  {function: checkSorted("input")},
		"unsorted-outputs": {function: checkSorted("output")},
		"unused-const":     {function: checkUnusedConst},
		"unused-input":     {each: true, function: checkUnusedInput},
		"unused-value":     {function: checkUnusedValue},
		"w8a8-1x1":         {each: true, chips: []chip.Chip{chip.M6}, kinds: convs, node: checkW8A8},
		"weight-budget":    {each: true, once: checkBudget},
		"weight-file":      {once: checkWeightFile},
		"weight-files":     {once: checkFiles},
	}
}

var convs = []string{"conv", "conv_transpose"}

func (f finder) run(c *check) {
	if len(f.chips) > 0 && !slices.Contains(f.chips, c.spec.Chip) {
		return
	}
	if f.once != nil {
		f.once(c)
	}
	for _, fn := range c.funcs {
		if f.function != nil {
			f.function(c, fn)
		}
		if f.surface != nil {
			surfaces(fn, func(side string, v *ops.Value) { f.surface(c, side, v) })
		}
	}
	if f.node != nil {
		c.each(func(n *ops.Node) {
			if (len(f.kinds) == 0 || slices.Contains(f.kinds, n.Op.Kind)) && (f.folded || runs(n)) {
				f.node(c, n)
			}
		})
	}
}
