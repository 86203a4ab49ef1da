package mil

// opset reads the opset of an operator: tensor_buffer_to_tensor<ios17>(..).
func (p *parser) opset(op *Op) {
	p.next()
	op.Opset = p.name("an opset")
	p.want('>', "after the opset", "write tensor_buffer_to_tensor<ios17>(input = x)")
}

// third returns the token after ahead.
func (p *parser) third() (t token) {
	s := *p.scan
	s.fault, s.note = func(Pos, string, string) {}, nil
	s.next(&t)
	return t
}

// blocks reads the blocks of a statement. Commas may separate them.
func (p *parser) blocks(f *Function, op *Op) {
	for p.atBlock(op) {
		p.endLine()
		p.got(',')
		b := &Block{Pos: p.tok.pos}
		op.Blocks = append(op.Blocks, b)
		p.block(f, b)
	}
}

// atBlock reports whether a block comes next: a name with parameters, or a brace. A call without results after a
// statement without semicolon is none.
func (p *parser) atBlock(op *Op) bool {
	switch {
	case p.tok.kind == '{', p.tok.kind == ',' && len(op.Blocks) > 0:
		return true
	case p.tok.kind != tokIdent || reserved(p.tok.text):
		return false
	}
	after := p.third()
	return p.ahead.kind == '(' && (after.kind == ')' || after.kind == tokIdent && typeWord(after.text))
}

// block reads a block to the parenthesis after its results. A broken header does not hide its body.
func (p *parser) block(f *Function, b *Block) {
	const form = "a block is written body(tensor<fp16, [1, 4]> a) { .. } -> (b)"
	p.enter()
	defer p.leave()
	if !p.try(func() {
		if p.tok.kind == tokIdent {
			b.Name = p.name("the name of a block")
			p.want('(', "before the parameters of the block", form)
			p.list(')', "a parameter", func() { p.variable(&b.Params, "a parameter") })
		}
		p.want('{', "before the statements of the block", form)
		p.endLine()
	}) {
		p.toBody(f)
	}
	p.body(f, &b.Body)
	p.returned(&b.Results, "the block", form)
}

// skipBlock reads a block of a statement that is broken, from its brace to its results, for the faults in it.
func (p *parser) skipBlock(f *Function) {
	p.lost[f] = true
	p.try(func() {
		p.enter()
		defer p.leave()
		p.next()
		var body []*Op
		p.body(f, &body)
		if p.got('}'); p.got(tokArrow) && p.got('(') {
			for p.tok.kind == tokIdent || p.tok.kind == ',' {
				p.next()
			}
		}
	})
}
