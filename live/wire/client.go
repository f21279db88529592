package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"burst/internal/eager"
	"burst/internal/webconn"
)

// Client is a client of a server. One goroutine at a time uses it.
type Client struct {
	Welcome Welcome
	Notice  func(Notice)  // receives notices that answer nothing; may be nil
	Raster  func(*Raster) // receives rasters, which it must copy; may be nil

	conn    io.ReadWriteCloser
	in      Reader
	out     []byte
	next    uint64
	step    Step
	stepped Stepped
	raster  Raster
	views   []frame // that came while something else was awaited
}

// frame is a frame that is kept.
type frame struct {
	Header
	body []byte
}

// Dial connects to a server: at is the path of its Unix socket, or one of the addresses that it has printed, whose token the hello then
// has.
func Dial(at string, h Hello) (*Client, error) {
	if !strings.HasPrefix(at, "http://") {
		conn, err := net.Dial("unix", at)
		if err != nil {
			return nil, err
		}
		return NewClient(conn, h)
	}
	u, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	conn, err := webconn.Dial("ws://" + u.Host + "/live")
	if err != nil {
		return nil, err
	}
	h.Token = cmp.Or(h.Token, strings.TrimPrefix(u.Fragment, "token="))
	return NewClient(conn, h)
}

// NewClient makes a client of a connection, which it closes on an error.
func NewClient(conn io.ReadWriteCloser, h Hello) (*Client, error) {
	if socket, ok := conn.(net.Conn); ok {
		conn = eager.Conn(socket)
	}
	c := &Client{conn: conn, in: Reader{From: conn}}
	if err := c.ask(TypeHello, h, &c.Welcome); err != nil {
		conn.Close()
		return nil, err
	}
	c.next = c.Welcome.Burst
	return c, nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

// Next is the burst at which the next Step begins.
func (c *Client) Next() uint64 { return c.next }

// Bind binds inputs and outputs.
func (c *Client) Bind(b Bind) (Bound, error) {
	var answer Bound
	err := c.ask(TypeBind, b, &answer)
	if err == nil {
		c.next = answer.Burst
	}
	return answer, err
}

// Control asks the server to do something, and waits until it is done.
func (c *Client) Control(x Control) error { return c.ask(TypeControl, x, &Notice{}) }

// ask sends a question and waits for its answer.
func (c *Client) ask(t Type, question, answer any) (err error) {
	if c.out, err = AppendJSON(c.out[:0], t, 0, question); err != nil {
		return err
	}
	if t == TypeControl {
		t = TypeNotice
	}
	_, body, err := c.exchange(t)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, answer)
}

// Step runs n bursts with inputs. What it returns is valid until the next call. On an error of the connection it is not known whether
// they were run: a client that connects anew may ask for them again from the same burst.
func (c *Client) Step(n uint32, inputs ...Amounts) (*Stepped, error) {
	return c.StepEach(n, nil, inputs...)
}

// StepEach is Step whose answer has, of the outputs named and no others, what they tell of each burst. They are not of the kind Fired.
func (c *Client) StepEach(n uint32, outputs []uint16, inputs ...Amounts) (*Stepped, error) {
	c.step.Bursts, c.step.Inputs, c.step.Each = n, inputs, outputs
	c.out = AppendStep(c.out[:0], c.next, &c.step)
	h, body, err := c.exchange(TypeStepped)
	if err != nil {
		return nil, err
	}
	if err := c.stepped.Parse(h.Burst, body); err != nil {
		return nil, err
	}
	c.next = c.stepped.Next
	return &c.stepped, nil
}

// Feed sets inputs from the next burst on. The server answers only if it refuses them, with a notice.
func (c *Client) Feed(inputs ...Amounts) error { return c.FeedFrom(0, inputs...) }

// FeedFrom sets inputs from a burst on, or from the next one if that has begun.
func (c *Client) FeedFrom(burst uint64, inputs ...Amounts) error {
	c.out = AppendFeed(c.out[:0], burst, inputs)
	_, err := c.conn.Write(c.out)
	return err
}

// See waits for the next picture, and acknowledges it.
func (c *Client) See(v *View) error {
	var x frame
	if len(c.views) > 0 {
		x, c.views = c.views[0], c.views[1:]
	} else {
		var err error
		c.out = c.out[:0]
		if x.Header, x.body, err = c.exchange(TypeView); err != nil {
			return err
		}
	}
	c.out = AppendSeen(c.out[:0], x.Burst)
	if _, err := c.conn.Write(c.out); err != nil {
		return err
	}
	return v.Parse(x.Burst, x.body)
}

// exchange sends what is to be sent and waits for a frame of a type. Where an answer is awaited, a notice that refuses is an error.
// If the server has closed the connection, the notices that it sent before are still received.
func (c *Client) exchange(want Type) (Header, []byte, error) {
	asked := len(c.out) > 0
	var closed error
	if asked {
		_, err := c.conn.Write(c.out)
		if closed = err; err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
			return Header{}, nil, err
		}
	}
	for {
		h, body, err := c.in.Next()
		if err != nil && closed != nil {
			err = closed
		}
		if err != nil {
			return h, nil, err
		}
		if h.Type == TypeNotice {
			n := new(Notice)
			if err := json.Unmarshal(body, n); err != nil {
				return h, nil, err
			}
			switch {
			case asked && n.Code == Refused:
				return h, nil, n
			case want == TypeNotice && n.Code == Done:
				return h, body, nil
			case c.Notice != nil:
				c.Notice(*n)
			}
			continue
		}
		if h.Type == want {
			return h, body, nil
		}
		if h.Type == TypeRaster {
			if err := c.raster.Parse(h.Burst, body); err != nil {
				return h, nil, err
			}
			if c.Raster != nil {
				c.Raster(&c.raster)
			}
			continue
		}
		if h.Type != TypeView {
			return h, nil, fmt.Errorf("wire: a frame of type %d, want %d", h.Type, want)
		}
		c.views = append(c.views, frame{h, slices.Clone(body)}) // two at most: the server waits until they are acknowledged
	}
}
