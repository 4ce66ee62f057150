import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a capsule answers to a hello: hex HMAC-SHA256 of the nonce under the key only it and the host know. */
export function capsuleProof(capsuleKey: string, nonce: string): string {
  return createHmac('sha256', capsuleKey).update(nonce).digest('hex');
}

/** True when `proof` answers `nonce`; takes the same time for every wrong one. */
export function proves(proof: string, capsuleKey: string, nonce: string): boolean {
  const [given, expected] = [Buffer.from(proof), Buffer.from(capsuleProof(capsuleKey, nonce))];
  return given.length === expected.length && timingSafeEqual(given, expected);
}
