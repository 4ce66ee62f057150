import type { CapsuleMessage } from '../protocol/index.ts';

/** One client's end of the line, as far as a session needs it. */
export interface ViewerLink {
  /** Bytes handed over that the client has not taken yet. */
  readonly backlogBytes: number;
  sendMessage(message: CapsuleMessage): void;
  sendTerminal(bytes: Buffer): void;
  /** Calls back once, when the backlog is empty. */
  onceDrained(callback: () => void): void;
}

export interface Size {
  cols: number;
  rows: number;
}

/** A client that watches a session. */
export interface Viewer extends Size {
  readonly link: ViewerLink;
}

/** The clients attached to one session. None of them can hold up the session or each other. */
export interface Viewers {
  readonly count: number;
  /** The smallest size in each direction; null without viewers. */
  smallest(): Size | null;
  add(viewer: Viewer): void;
  remove(viewer: Viewer): void;
  /** Sends the repaint of now to one viewer. */
  repaint(viewer: Viewer): void;
  output(bytes: Buffer): void;
  tell(message: CapsuleMessage, except?: Viewer): void;
}

export interface ViewersOptions {
  sessionId: string;
  size(): Size;
  repaint(): Buffer;
}

/** A client that has not taken this much is behind: its output is dropped until it has taken what it has. */
const MAX_BACKLOG_BYTES = 1024 * 1024;

interface Standing {
  behind: boolean;
  /** What it may have waiting: more while a repaint is on its way. */
  allowedBytes: number;
}

export function createViewers({ sessionId, size, repaint }: ViewersOptions): Viewers {
  const standings = new Map<Viewer, Standing>();

  function sendRepaint({ link }: Viewer, standing: Standing): void {
    const bytes = repaint();
    standing.behind = false;
    standing.allowedBytes = MAX_BACKLOG_BYTES + link.backlogBytes + bytes.length;
    link.sendMessage({ type: 'repaint', session_id: sessionId, ...size(), bytes: bytes.length });
    link.sendTerminal(bytes);
  }

  function fallBehind(viewer: Viewer, standing: Standing): void {
    if (standing.behind) return;
    standing.behind = true;
    viewer.link.onceDrained(() => {
      if (standings.get(viewer) === standing && standing.behind) sendRepaint(viewer, standing);
    });
  }

  return {
    get count() {
      return standings.size;
    },
    smallest() {
      if (standings.size === 0) return null;
      const all = [...standings.keys()];
      return {
        cols: Math.min(...all.map(({ cols }) => cols)),
        rows: Math.min(...all.map(({ rows }) => rows)),
      };
    },
    add: (viewer) => void standings.set(viewer, { behind: false, allowedBytes: MAX_BACKLOG_BYTES }),
    remove: (viewer) => void standings.delete(viewer),
    repaint(viewer) {
      const standing = standings.get(viewer);
      if (standing === undefined) return;
      // It asks faster than it reads: one repaint, when it has taken what it has.
      if (viewer.link.backlogBytes > MAX_BACKLOG_BYTES) fallBehind(viewer, standing);
      else sendRepaint(viewer, standing);
    },
    output(bytes) {
      if (bytes.length === 0) return;
      for (const [viewer, standing] of standings) {
        if (standing.behind) continue;
        if (viewer.link.backlogBytes === 0) standing.allowedBytes = MAX_BACKLOG_BYTES;
        if (viewer.link.backlogBytes > standing.allowedBytes) fallBehind(viewer, standing);
        else viewer.link.sendTerminal(bytes);
      }
    },
    tell(message, except) {
      for (const viewer of standings.keys()) if (viewer !== except) viewer.link.sendMessage(message);
    },
  };
}
