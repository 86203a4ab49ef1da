package driver

import (
	"context"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// call makes one call for one user and compares the answer with the model's.
func (w *world) call(what byte, who, a, b int) {
	u, p, s, second := w.users[who%3], a%3, b%4, (b>>2)%4
	if u.client == nil {
		w.arrive(u)
	}
	switch what % 16 {
	case 0, 1:
		w.handshake(u, a&1)
	case 2, 3, 4:
		w.create(u, p)
	case 5, 6:
		w.prepare(u, p)
	case 7:
		w.unprepare(u, p)
	case 8:
		w.destroy(u, p)
	case 9, 10:
		w.mapping(u, s, what%16 == 9 || b&0x80 != 0)
	case 11, 12, 13:
		w.send(u, p, s, second, a>>2)
	case 14:
		w.cancel(u, u.next-1-uint32(a%3))
	case 15:
		w.rare(u, a, b)
	}
}

func (w *world) rare(u *user, a, b int) {
	switch a % 8 {
	case 0:
		w.close(u, b&1)
	case 1:
		w.leave(u)
	case 2:
		w.remove(b)
	default:
		if len(w.line) > 0 {
			w.step <- struct{}{}
			w.end(w.line[0], ok)
			w.line = w.line[1:]
		}
	}
}

// want is the answer of a call that needs the connection.
func (u *user) want(connection int, ret driverabi.Return) driverabi.Return {
	if !u.open[connection] {
		return driverabi.NotOpen
	}
	return ret
}

func (w *world) handshake(u *user, connection int) {
	_, got := handshake([]func(int, *driverabi.Args) error{u.client.Control, u.client.Direct}[connection], 1)
	want := ok
	if u.open[connection] {
		want = bad
	}
	w.same("open", want, got)
	u.open[connection] = true
}

// of matches the requests of u.
func of(u *user) func(flying) bool { return func(f flying) bool { return f.user == u } }

func (w *world) close(u *user, connection int) {
	if u.open[connection] {
		w.abort(of(u))
	}
	got := []func(int, *driverabi.Args) error{u.client.Control, u.client.Direct}[connection](1,
		&driverabi.Args{})
	w.same("close", u.want(connection, ok), got)
	if !u.open[connection] {
		return
	}
	if u.open[connection] = false; connection == 0 {
		u.created, u.next = [3]int{}, 0
	} else {
		u.mapped = [4]bool{}
	}
}

func (w *world) leave(u *user) {
	if u.client == nil {
		return
	}
	w.abort(of(u))
	require.NoError(w.t, u.client.Close(context.Background()))
	*u = user{info: u.info, done: u.done, expected: u.expected}
}

// remove tries to take a program or a surface away, and gives another one for it.
func (w *world) remove(b int) {
	p, s := b%3, b%4
	err := w.driver.Remove(w.programs[p])
	if slices.ContainsFunc(w.users, func(u *user) bool { return u.created[p] > 0 }) {
		require.ErrorIs(w.t, err, ane.ErrInUse)
	} else {
		require.NoError(w.t, err)
		require.ErrorIs(w.t, w.driver.Remove(w.programs[p]), ane.ErrName)
		w.programs[p] = w.program()
	}
	err = w.driver.Remove(uint64(w.surfaces[s]))
	if slices.ContainsFunc(w.users, func(u *user) bool { return u.mapped[s] }) {
		require.ErrorIs(w.t, err, ane.ErrInUse)
	} else {
		require.NoError(w.t, err)
		w.surfaces[s] = w.surface(1)
	}
}

func (w *world) create(u *user, p int) {
	want := ok
	switch foreign := func(o *user) bool { return o.created[p] > 0 && o.info.Identity != u.info.Identity }; {
	case u.created[p] > 0:
		want = bad
	case slices.ContainsFunc(w.users, foreign):
		want = driverabi.NotPermitted
	}
	want = u.want(0, want)
	w.same("create", want, create1(u.client, w.programs[p]))
	if want == ok {
		u.created[p], u.token[p] = isCreated+1, u.client.created(w.programs[p]).token
	}
}

func (w *world) prepare(u *user, p int) {
	want := ok
	if u.created[p] == 0 || u.created[p] == isPrepared+1 {
		want = bad
	}
	want = u.want(0, want)
	x, got := prepare1(u.client, w.programs[p])
	w.same("prepare", want, got)
	if want == ok {
		require.Equal(w.t, u.token[p], x.Token)
		u.created[p] = isPrepared + 1
	}
}

func (w *world) unprepare(u *user, p int) {
	want := ok
	switch {
	case u.created[p] != isPrepared+1:
		want = bad
	case slices.ContainsFunc(w.line, func(f flying) bool { return f.user == u && f.program == p }):
		want = driverabi.Busy
	}
	want = u.want(0, want)
	w.same("unprepare", want, unprepare1(u.client, u.token[p]))
	if want == ok {
		u.created[p] = isUnprepared + 1
	}
}

func (w *world) destroy(u *user, p int) {
	want := ok
	if u.created[p] == 0 || u.created[p] == isPrepared+1 {
		want = bad
	}
	want = u.want(0, want)
	w.same("destroy", want, destroy1(u.client, Destroy{Token: u.token[p], Resource: w.programs[p]}))
	if want == ok {
		u.created[p] = 0
	}
}

// mapping maps or unmaps a surface.
func (w *world) mapping(u *user, s int, adds bool) {
	needs := func(f flying) bool { return f.user == u && slices.Contains(f.surfaces[:], s) }
	call, got, want := "map", error(nil), ok
	if adds {
		_, got = map1(u.client, w.surfaces[s])
	} else {
		call, got = "unmap", unmap1(u.client, w.surfaces[s])
	}
	switch {
	case adds == u.mapped[s]:
		want = bad
	case !adds && slices.ContainsFunc(w.line, needs):
		want = driverabi.Busy
	}
	want = u.want(1, want)
	w.same(call, want, got)
	if want == ok {
		u.mapped[s] = adds
	}
}

// send sends a request, sometimes with a sequence number that is late or early.
func (w *world) send(u *user, p, in, out, flavour int) {
	sequence := u.next
	switch flavour % 8 {
	case 0:
		sequence--
	case 1:
		sequence += 10
	}
	own := 0
	for _, f := range w.line {
		if f.user == u {
			own++
		}
	}
	want := ok
	switch {
	case u.created[p] == 0:
		want = bad
	case u.created[p] != isPrepared+1:
		want = driverabi.NotReady
	case int32(sequence-u.next) < 0:
		want = bad
	case own >= worldDepth:
		want = Full
	case !u.mapped[in], !u.mapped[out], in == out:
		want = bad
	}
	want = u.want(0, want)
	reply, got := ask{token: u.token[p], sequence: sequence, port: 5,
		surfaces: []uint32{w.surfaces[in], w.surfaces[out]}}.send(u.client)
	w.same("send", want, got)
	if want != ok {
		require.ErrorIs(w.t, got, want)
		return
	}
	require.Equal(w.t, sendReply{Sequence: sequence, Token: u.token[p]}, reply)
	u.next = sequence + 1
	w.line = append(w.line, flying{u, sequence, p, [2]int{in, out}})
}

func (w *world) cancel(u *user, sequence uint32) {
	mine := func(f flying) bool { return f.user == u && f.sequence == sequence }
	require.Equal(w.t, slices.ContainsFunc(w.line, mine), u.client.Stop(sequence) != NotFound)
	w.abort(mine)
}
