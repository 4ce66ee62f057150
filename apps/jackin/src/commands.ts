import { Doctor } from './commands/doctor.ts';
import { Eject } from './commands/eject.ts';
import { Exile } from './commands/exile.ts';
import { Hardline } from './commands/hardline.ts';
import { Load } from './commands/load.ts';
import { Purge } from './commands/purge.ts';
import { Resume } from './commands/resume.ts';
import { Status } from './commands/status.ts';
import { Stop } from './commands/stop.ts';

/** Every verb by its name: oclif's explicit command table. */
export const commands = {
  doctor: Doctor,
  eject: Eject,
  exile: Exile,
  hardline: Hardline,
  load: Load,
  purge: Purge,
  resume: Resume,
  status: Status,
  stop: Stop,
};
