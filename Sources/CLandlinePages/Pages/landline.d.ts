// Types of landline.js. Every name that stands there stands here.

export declare const VERSION: string;

/** Every limit of the library; milliseconds where nothing else is said. */
export declare const LIMITS: Readonly<{
  pendingRequests: number;
  calls: number;
  /** Characters. */
  messageLength: number;
  /** Characters. */
  descriptionLength: number;
  digits: number;
  headerBytes: number;
  headerNameBytes: number;
  nameBytes: number;
  tabs: number;
  figures: number;
  figureName: number;
  reply: number;
  connect: number;
  attempt: number;
  credentials: number;
  proof: number;
  signatures: number;
  ping: number;
  pong: number;
  probe: number;
  firstWait: number;
  longestWait: number;
  hangUp: number;
  report: number;
  uplink: number;
  iceGrace: number;
  iceRestart: number;
  mediaPath: number;
  directPath: number;
  relayPath: number;
  /** Bytes. */
  soundBytes: number;
}>;

export type FailureDomain = "sip" | "network" | "capability" | "gateway";

/** A gateway of a newer version may know more codes. */
export type FailureCode =
  | "sip.busy" | "sip.declined" | "sip.blocked" | "sip.unallocated" | "sip.unreachable" | "sip.noAnswer"
  | "sip.cancelled" | "sip.trunkAuth" | "sip.identity" | "sip.media" | "sip.negotiation" | "sip.congestion"
  | "sip.transport" | "sip.redirect" | "sip.request" | "sip.server" | "sip.global" | "sip.protocol"
  | "network.unreachable" | "network.timeout" | "network.security" | "network.lost" | "network.media"
  | "capability.remote" | "capability.local"
  | "gw.userBusy" | "gw.userDeclined" | "gw.userNoAnswer" | "gw.userUnreachable" | "gw.userUnknown" | "gw.tooLate"
  | "gw.numberUnknown" | "gw.numberUnserved" | "gw.roomFull" | "gw.roomLocked" | "gw.kicked" | "gw.callerRefused" | "gw.forwardLoop" | "gw.transfer"
  | "gw.recording" | "gw.saying"
  | "gw.crossed" | "gw.funds" | "gw.rate" | "gw.policy" | "gw.limit" | "gw.noRoute" | "gw.billing" | "gw.currency" | "gw.account"
  | "gw.number" | "gw.address" | "gw.header" | "gw.mediaLost" | "gw.message" | "gw.registration" | "gw.sequence"
  | "gw.unavailable" | "gw.origin" | "gw.internal"
  | (string & {});

export type RetryAdvice =
  | "never" | "notNeeded" | "now" | "later" | "afterFix" | "afterOperator" | "otherCodec" | "byGateway" | "nextTrunk"
  | (string & {});

/** What is wrong with a value: which rule, where, and what would be taken. */
export interface InvalidValue {
  kind: string;
  rule: string;
  /** Bytes from the start. */
  offset?: number;
  problem: string;
  accepted: string;
}

/** A Reason header (RFC 3326). */
export interface Reason {
  protocol: string;
  cause?: number;
  text?: string;
  location?: string;
}

/** One try on one trunk. */
export interface Attempt {
  trunk: string;
  started_at: string;
  ended_at: string;
  sip_status?: number;
  code?: FailureCode;
}

/** A failure as the gateway tells it. */
export interface FailureDetails {
  domain: FailureDomain;
  code: FailureCode;
  message: string;
  retry: RetryAdvice;
  refusal?: string;
  sip_status?: number;
  phrase?: string;
  cause?: number;
  reasons?: Reason[];
  warning?: string;
  retry_after?: number;
  leg?: "app" | "trunk";
  trunk?: string;
  attempts?: Attempt[];
  correlation?: string;
  invalid?: InvalidValue;
  /** With `gw.sequence`: the least that a signature needs, in decimal. */
  next_sequence?: string;
  /** With `sip.blocked`: who blocked the call, and whom to turn to. */
  redress?: { network?: string; url?: string; telephone?: string };
}

/** Everything that is known of a failure. */
export declare class LandlineError extends Error {
  constructor(details: FailureDetails, options?: { cause?: unknown });
  readonly name: "LandlineError";
  readonly code: FailureCode;
  readonly domain: FailureDomain;
  /** Whether the same is worth another try, and whose turn it is. */
  readonly retry: RetryAdvice;
  /** Why the account may not: `insufficientCredit`, `dailyCap`, … */
  readonly refusal: string | null;
  readonly sipStatus: number | null;
  /** What the other side wrote beside the status, or the library beside the message. */
  readonly phrase: string | null;
  /** Q.850 cause, 0 to 127. */
  readonly q850: number | null;
  readonly reasons: Reason[];
  /** A SIP Warning header. */
  readonly warning: string | null;
  /** Seconds. */
  readonly retryAfter: number | null;
  readonly leg: "app" | "trunk" | null;
  readonly trunk: string | null;
  readonly attempts: Attempt[];
  /** The gateway's name for the call in its records. */
  readonly correlation: string | null;
  readonly invalid: InvalidValue | null;
  readonly details: FailureDetails;
}

export interface CredentialsRequest {
  applicationKey: string;
  user: string;
  device: string;
  /**
   * The least sequence that a signature needs, as far as this client knows, in decimal; "1" where it knows nothing. A
   * server that counts for its users uses the greater of the two, and is asked again where that is too low.
   */
  leastSequence: string;
}

export type CredentialsAnswer =
  | { token: string }
  | { signature: string; sequence?: number | string | bigint };

/** Asked for each registration; what it throws ends the client, unless the client has been registered before. */
export type CredentialsFunction = (request: CredentialsRequest) => CredentialsAnswer | Promise<CredentialsAnswer>;

export interface LandlineOptions {
  /** Of the gateway; else `/v1/connect` where the page came from. No query, name or password. */
  url?: string | URL;
  applicationKey: string;
  user: string;
  /**
   * This installation's name. By itself one of its own for each page, or with `keep` one for each tab of the browser that is
   * open at the same time: each rings.
   */
  device?: string;
  /** What the device calls itself, shown to users that it calls; at most 255 bytes. */
  name?: string;
  /** A secret only while developing: whoever sees the page sees it. */
  credentials: CredentialsFunction | { secret: string };
  /** What is asked for: "calling", "messaging" or both among it. */
  capabilities: ("calling" | "messaging" | "push" | "managedPush" | "backgroundConnection")[];
  /**
   * What a call for the user does here while a device of the user is in a call: a device in a call does not ring ("device"), it
   * rings and is told so ("waiting"), one call makes the whole user busy ("user"). Else the application's rule.
   */
  busy?: "device" | "waiting" | "user";
  /**
   * Where the device keeps what the gateway gave it, so that `credentials` is not asked each time: `localStorage`, or one of the
   * page's own. Else as long as the client lasts. Whoever reads it can be this device.
   */
  keep?: KeyStorage;
}

/** Of `Storage` as much as is used; a method may give a promise. */
export interface KeyStorage {
  getItem(key: string): string | null | Promise<string | null>;
  setItem(key: string, text: string): void | Promise<void>;
  removeItem(key: string): void | Promise<void>;
}

export type ClientState = "idle" | "connecting" | "ready" | "reconnecting" | "stopped";

export interface StateDetail {
  state: ClientState;
  /** Why it stopped; null otherwise. */
  failure: LandlineError | null;
}

export interface LandlineEventMap {
  state: CustomEvent<StateDetail>;
  /** Each call as it is made. */
  call: CustomEvent<Call>;
  /** Somebody calls the user: `answer()`, `decline()`, or let it ring. */
  incoming: CustomEvent<Call>;
  /** A call for the user that nobody took or declined. */
  missed: CustomEvent<MissedCall>;
  /** The gateway takes no new calls. */
  draining: Event;
}

/** Who calls. */
export interface Caller {
  /** "user", "phone", "sip", "anonymous", or "conference", which calls somebody to take part; other kinds may follow. */
  kind: string;
  /** The user's id, the number in international form, or the address; empty for an anonymous caller. */
  value: string;
  /** What the caller calls itself, not verified; empty for nothing. */
  name: string;
  /** Who stands for it, but for users: "none", "network", "A", "B", "C" or "failed"; other words may follow. */
  verified?: string;
  /** Why a verification failed, or could not be made in time. */
  why?: string;
  /** The number or address that diverted the call, as a trusted carrier or a signature says. */
  diverted_by?: string;
}

export interface MissedCall extends CallDetail {
  /** Null where this page was never told of the call while it rang. */
  from: Caller | null;
  cause: EndCause;
  /** RFC 3339. */
  startedAt: string;
  endedAt: string;
}

export type CallKind = "phone" | "sip" | "user" | "conference";

export interface CallOptions {
  /** Names start with `x-` where the call leaves by SIP, to phones and SIP addresses; 1024 bytes together. */
  headers?: Record<string, string>;
  /** The number to show, one that the application may show. */
  callerNumber?: string;
  /** Shows no number. */
  anonymous?: boolean;
  /** A stream, constraints or true for the browser's own choice (the default); false for none. */
  microphone?: MediaStream | MediaTrackConstraints | boolean;
  /** Tells a user that is called that video is offered; the gateway carries sound alone. */
  video?: boolean;
}

export interface AnswerOptions {
  /** Of any names; 1024 bytes together. */
  headers?: Record<string, string>;
  /** As that of a call that goes out. */
  microphone?: MediaStream | MediaTrackConstraints | boolean;
}

export interface DeclineOptions {
  /** "user" (the default): it ends on every device of the user; "device": others ring on. */
  scope?: "user" | "device";
  /** What the caller is told; "declined" by default. */
  reason?: "declined" | "busy";
}

export interface NotificationOptions {
  /** False: no more of them. */
  on?: boolean;
  /** The words of a notification; else who calls. */
  describe?: (call: Call) => { title: string; body?: string; icon?: string };
}

/** A signal of the telephone, as in most of Europe. */
export type Tone = "ringtone" | "ringback" | "busy" | "congestion";

/** An address, or the file itself; a WAV file of 16 bits in mono at 8, 16 or 32 kHz is read everywhere. */
export type SoundSource = string | URL | Blob | ArrayBuffer | ArrayBufferView | AudioBuffer;

/** One user on one device: connects, proves who it is, stays connected, makes calls and is called. */
export declare class Landline extends EventTarget {
  /** @throws TypeError for options that cannot be. */
  constructor(options: LandlineOptions);
  readonly state: ClientState;
  readonly applicationKey: string;
  readonly user: string;
  /** With `keep`, null until the first connection. */
  readonly device: string | null;
  /** Why the client stopped; null when it was asked to. */
  readonly failure: LandlineError | null;
  /** The gateway takes no new calls. */
  readonly draining: boolean;
  /** Calls that have not ended. */
  readonly calls: Call[];
  /** Whether calls for the user are to ring here. */
  readonly listening: boolean;
  /** Connects and registers; may be called again after a stop. Refused with a LandlineError. */
  connect(): Promise<void>;
  /**
   * Has calls for the user ring on this device from now on, or no more; told again after each new registration. A client that
   * is idle connects. Refused with `capability.remote` where the gateway is of a version without calls for users, and with
   * `capability.local` where `capabilities` lacks "calling".
   */
  listen(on?: boolean): Promise<void>;
  /**
   * Has the browser show a notification for each call that comes in while nobody looks at the page; a click on it brings the
   * page to the front. The browser asks the user for leave, so call it from a click. False where it may not.
   */
  showNotifications(options?: NotificationOptions): Promise<boolean>;
  /** Deletes what is kept of this device, as when the user signs out: the next registration proves anew who it is. */
  forget(): Promise<void>;
  /**
   * Plays a file to the page's own user, and not to the other side: a ringing tone, a busy tone. One at a time. Refused
   * with a LandlineError where it cannot be had or read.
   */
  startPlayingSoundFile(source: SoundSource, options?: { loop?: boolean }): Promise<void>;
  /** The same with a signal of the telephone, again and again unless `loop` is false. `stopPlayingSoundFile()` ends it. */
  startPlayingTone(name: Tone, options?: { loop?: boolean }): Promise<void>;
  stopPlayingSoundFile(): void;
  readonly isPlayingSoundFile: boolean;
  /** Ends the session and its calls at once. What rings here rings on on the user's other devices. */
  stop(): void;
  /** Hangs up every call, waits until each has its cost, and stops. */
  stopGracefully(): Promise<void>;
  callPhone(number: string, options?: CallOptions): Call;
  callSIP(address: string, options?: CallOptions): Call;
  callUser(user: string, options?: CallOptions): Call;
  callConference(conference: string, options?: CallOptions): Call;
  /** Returns at once; whatever goes wrong arrives as the call's `ended`. */
  call(kind: CallKind, target: string, options?: CallOptions): Call;
  /** Calls the listener with the event's `detail`. Gives a function that ends it. */
  on<Name extends keyof LandlineEventMap>(
    name: Name, listener: (detail: LandlineEventMap[Name] extends CustomEvent<infer Detail> ? Detail : undefined) => void): () => void;
  addEventListener<Name extends keyof LandlineEventMap>(
    type: Name, listener: (event: LandlineEventMap[Name]) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(
    type: string, listener: EventListenerOrEventListenerObject | null, options?: boolean | AddEventListenerOptions): void;
}

/** States only move forward; one may be skipped. */
export type CallState = "initiating" | "progressing" | "ringing" | "answered" | "established" | "ended";

/** Milliseconds since 1970, by the page's clock, with fractions; a moment that did not come is absent. */
export interface CallTimes {
  started?: number;
  placed?: number;
  progressed?: number;
  rung?: number;
  early?: number;
  answered?: number;
  /** ICE and DTLS are through: sound can flow between browser and gateway. */
  connected?: number;
  established?: number;
  ended?: number;
}

/** Money as exact decimal text and as an integer of the smallest unit. */
export interface PriceDetail {
  call: string;
  currency: string;
  rate_per_minute: string;
  rate_per_minute_nano: number;
  connection_fee: string;
  connection_fee_micro: number;
  initial_seconds: number;
  increment_seconds: number;
  seconds_available: number;
}

/** One direction in the last second. Where nothing came in it, only `packets` is there. */
export interface QualityDirection {
  /** Mean opinion score, 1 to 4.5. */
  mos?: number;
  /** Milliseconds. */
  jitter?: number;
  /** Share from 0 to 1. */
  loss?: number;
  /** Since the start. */
  packets: number;
}

export interface QualityDetail {
  call: string;
  sent: QualityDirection;
  received: QualityDirection;
  /** Milliseconds. */
  round_trip?: number;
}

/** Whether what is said is recorded; paused: silence takes the place of it. */
export type RecordingState = "on" | "paused" | "off";

export type QualityWarning = "high-rtt" | "high-jitter" | "high-packet-loss" | "high-downlink-loss" | "low-mos" | "no-audio" | "thin-link" | (string & {});

export type EndCause =
  | "none" | "timeout" | "denied" | "noAnswer" | "error" | "hungUp" | "canceled" | "otherDeviceAnswered" | "transferred" | (string & {});

/** How a call went. Of a call that the gateway never told the end of, cost and currency are absent. */
export interface CallSummary {
  call?: string;
  cause: EndCause;
  /** RFC 3339. */
  started_at: string;
  progressed_at?: string;
  rung_at?: string;
  answered_at?: string;
  established_at?: string;
  ended_at: string;
  duration_ms: number;
  billed_seconds?: number;
  cost?: string;
  cost_micro?: number;
  currency?: string;
  /** To a device that was called: nobody of its user took the call or declined it. */
  missed?: boolean;
  /** To a device that was called: the user's device that answered or declined. */
  by?: string;
  headers?: Record<string, string>;
  failure?: FailureDetails;
}

export interface CallDetail {
  call: string;
}

export interface HeadersDetail extends CallDetail {
  /** Custom headers of the other side. */
  headers?: Record<string, string>;
}

export interface TransferDetail extends CallDetail {
  state: "ringing" | "answered" | "completed" | "failed" | "taken-back" | "connected" | (string & {});
  /** Whom: `{ kind: "phone", number }`, `{ kind: "sip", address }`, `{ kind: "user", user }`. */
  to: { kind: CallKind; number?: string; address?: string; user?: string; conference?: string };
  /** Why nobody was reached. */
  failure?: FailureDetails;
}

/** Somebody in a conference. Numbers and addresses are masked. */
export interface Member {
  /** Counts from 1 in each conference. */
  participant: number;
  from: { kind: "user" | "phone" | "sip" | "anonymous" | (string & {}); value: string; name?: string; verified?: string };
  muted: boolean;
  /** RFC 3339. */
  since: string;
}

export interface MembersDetail extends CallDetail {
  /** With all who are there: the page's own number; absent where only what has changed is told. */
  own?: number;
  members: Member[];
  left: number[];
}

export interface SpeakersDetail extends CallDetail {
  /** At most 5. */
  speaking: number[];
  leads?: number;
}

export interface TransferOptions {
  /** "phone" where it is not given. */
  kind?: CallKind;
  target: string;
  /** Talk with them first, until `completeTransfer()` or `takeBack()`; the other side waits. */
  consult?: boolean;
}

/** The members of the gateway's messages, as they are on the wire. */
export interface CallEventMap {
  placed: CustomEvent<CallDetail>;
  progressing: CustomEvent<HeadersDetail>;
  ringing: CustomEvent<HeadersDetail>;
  early: CustomEvent<CallDetail>;
  /** The other side answered, or this device did. */
  accepted: CustomEvent<HeadersDetail>;
  established: CustomEvent<CallDetail>;
  price: CustomEvent<PriceDetail>;
  /** The credit ends in so many seconds; without `ends_in` it no longer does. */
  credit: CustomEvent<CallDetail & { ends_in?: number }>;
  /** A key pressed on the other side. */
  digit: CustomEvent<CallDetail & { digit: string; milliseconds: number }>;
  /** The other side put the call on hold, or took it back. */
  held: CustomEvent<CallDetail & { held: boolean }>;
  recording: CustomEvent<CallDetail & { state: RecordingState }>;
  /** How a transfer goes that this page asked for; or, with `connected`, that the other side has put it through. */
  transfer: CustomEvent<TransferDetail>;
  quality: CustomEvent<QualityDetail>;
  /** Who is in the conference, or what has changed; `call.members` are all. */
  members: CustomEvent<MembersDetail>;
  /** Who speaks in the conference; at most four times a second. */
  speakers: CustomEvent<SpeakersDetail>;
  warning: CustomEvent<CallDetail & { warning: QualityWarning; raised: boolean }>;
  /** The path between browser and gateway. `failure`: sound has no way yet, and why; null as soon as it has one. */
  media: CustomEvent<{ state: RTCPeerConnectionState; failure: LandlineError | null }>;
  /** The microphone was pulled out, or taken back by the user. */
  microphone: CustomEvent<{ live: false }>;
  ended: CustomEvent<CallSummary>;
}

/** A call. It exists from the moment it is asked for, or comes in; all that happens to it later is an event. */
export declare class Call extends EventTarget {
  private constructor();
  /** The gateway's; null until `placed`. */
  readonly id: string | null;
  readonly direction: "outgoing" | "incoming";
  /** Of the other side: who is called, or who calls. */
  readonly kind: CallKind;
  readonly target: string;
  /** Custom headers of the other side, as far as they are known. */
  readonly headers: Record<string, string>;
  /** Who calls; null of a call that goes out. */
  readonly from: Caller | null;
  /** The number that was called, of a call that came over a trunk; null of any other. */
  readonly number: string | null;
  /** Whoever calls offers video, which the gateway does not carry. */
  readonly videoOffered: boolean;
  /** It comes in while this device is in another call. */
  readonly waiting: boolean;
  /** Until when it rings, in milliseconds since 1970 by the gateway's clock; null of a call that goes out. */
  readonly expiresAt: number | null;
  /** Of a call that ended with `gw.crossed`: the call from the same user that came in at the same moment. */
  readonly instead: Call | null;
  readonly state: CallState;
  readonly times: CallTimes;
  readonly price: PriceDetail | null;
  readonly quality: QualityDetail | null;
  /** All who are in the conference, in the order in which they came; empty in any other call. */
  readonly members: Member[];
  /** This page's own number in the conference. */
  readonly participant: number | null;
  /** Who speaks, and who leads the talk, also in a pause. */
  readonly speaking: number[];
  readonly leads: number | null;
  readonly credit: (CallDetail & { ends_in?: number }) | null;
  readonly summary: CallSummary | null;
  readonly failure: LandlineError | null;
  /** What the microphone gives; null without one. */
  readonly localStream: MediaStream | null;
  /** What is heard, for an audio element; there from the start. */
  readonly remoteStream: MediaStream;
  readonly muted: boolean;
  readonly onHold: boolean;
  readonly heldByOther: boolean;
  /** For figures and tests; the library itself changes it. */
  readonly connection: RTCPeerConnection | null;
  /** Never refused. */
  readonly ended: Promise<CallSummary>;
  /** Up to 64 of 0-9, *, #, A-D. */
  sendDigits(digits: string): Promise<void>;
  mute(on?: boolean): Promise<void>;
  hold(on?: boolean): Promise<void>;
  /**
   * Puts the other side through to somebody else, or to the other side of another call of this page. Where nobody answers
   * there, this page talks with the other side again.
   */
  transfer(to: TransferOptions | { with: Call }): Promise<void>;
  completeTransfer(): Promise<void>;
  takeBack(): Promise<void>;
  /** What is told of the conference: who is there and who speaks (the default), only who is there, or nothing. */
  record(state?: RecordingState): Promise<void>;
  follow(watch?: "speakers" | "members" | "none"): Promise<void>;
  /**
   * Takes a call that comes in; kept once it is this device's. Refused with `gw.tooLate` where another device was first or the
   * caller is gone; with `capability.local` where the user gives no microphone, and then it rings on.
   */
  answer(options?: AnswerOptions): Promise<void>;
  /** Refuses a call that comes in; the promise is that of `ended`. */
  decline(options?: DeclineOptions): Promise<CallSummary>;
  /** Ends the call; one that rings here is declined for the user. */
  hangUp(): Promise<CallSummary>;
  useMicrophone(microphone: MediaStream | MediaTrackConstraints | boolean): Promise<void>;
  /** Sends a file to the other side from the answer on, in place of the microphone ("inPlace") or "mixed" with it. */
  startSendingSoundFile(source: SoundSource, options?: { loop?: boolean; mode?: "inPlace" | "mixed" }): Promise<void>;
  stopSendingSoundFile(): void;
  readonly isSendingSoundFile: boolean;
  /** Sends the browser's figures now; it happens by itself every ten seconds and at the end. */
  report(): Promise<void>;
  /** Calls the listener with the event's `detail`. Gives a function that ends it. */
  on<Name extends keyof CallEventMap>(
    name: Name, listener: (detail: CallEventMap[Name] extends CustomEvent<infer Detail> ? Detail : undefined) => void): () => void;
  addEventListener<Name extends keyof CallEventMap>(
    type: Name, listener: (event: CallEventMap[Name]) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(
    type: string, listener: EventListenerOrEventListenerObject | null, options?: boolean | AddEventListenerOptions): void;
}
