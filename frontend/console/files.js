// @ts-check
/**
 * Pictures as a person hands them over: a folder chosen or dropped, loose files, or a zip. Contents are not
 * read here, and only pictures and clips are taken: nothing else of a folder leaves the computer.
 */

/** Extensions of pictures and clips: those that the server reads, or of which it says that it does not. */
const PICTURES = new Set(
  (
    "png apng jpg jpeg jpe jfif mpo webp avif jp2 j2k bmp dib gif tif tiff ppm pgm pbm pnm " +
    "heic heif hif jxl svg eps ps pdf psd psb xcf tga ico exr hdr rgbe pfm dng raw cr2 cr3 nef arw orf rw2 " +
    "mp4 m4v mov webm mkv avi mpg mpeg ogv wmv flv 3gp clip"
  ).split(" "),
);
const IGNORED = /(^|\/)(\.[^/]*|thumbs\.db|desktop\.ini|__macosx)(\/|$)/i;

/**
 * @typedef {{path: string, file: File}} Item a file with its path within the folder
 * @typedef {object} Handed what was handed over as one thing
 * @property {string} name of the folder or zip; "" for loose files
 * @property {Item[]} items the pictures; of a zip the zip itself
 * @property {string[]} others paths of files that are not pictures
 * @property {boolean} isZip
 */

/**
 * Return what a file input holds: a folder, loose files, or a zip.
 * @param {Iterable<File>} files
 * @returns {Handed | null} null if nothing was chosen
 */
export function chosen(files) {
  const all = [...files];
  if (!all.length) return null;
  const paths = all.map((file) => file.webkitRelativePath || file.name);
  const isFolder = paths.every((path) => path.includes("/"));
  return handed(
    isFolder ? paths[0].slice(0, paths[0].indexOf("/")) : "",
    all.map((file, i) => ({ path: isFolder ? paths[i].slice(paths[i].indexOf("/") + 1) : paths[i], file })),
  );
}

/**
 * Return what was dropped: each folder and each zip for itself, loose files together.
 * @param {DataTransfer} transfer of the event; it must be read before the event's handler returns
 * @returns {Promise<Handed[]>}
 */
export async function dropped(transfer) {
  const entries = [...transfer.items]
    .map((item) => item.webkitGetAsEntry?.())
    .filter((entry) => entry !== null && entry !== undefined);
  /** @type {Item[]} */
  const loose = [];
  /** @type {Handed[]} */
  const found = [];
  for (const entry of entries) {
    if (entry.isDirectory)
      found.push(handed(entry.name, await within(/** @type {FileSystemDirectoryEntry} */ (entry), "")));
    else loose.push({ path: entry.name, file: await fileOf(/** @type {FileSystemFileEntry} */ (entry)) });
  }
  const zips = loose.filter(({ path }) => isZip(path));
  const others = loose.filter(({ path }) => !isZip(path));
  return [
    ...found,
    ...zips.map((item) => handed("", [item])),
    ...(others.length ? [handed("", others)] : []),
  ];
}

/**
 * Return the pictures of a folder, and what else is in it.
 * @param {string} name
 * @param {Item[]} items
 * @returns {Handed}
 */
export function handed(name, items) {
  if (items.length === 1 && isZip(items[0].path))
    return { name: items[0].path.replace(/\.zip$/i, ""), items, others: [], isZip: true };
  const seen = items.filter(({ path }) => !IGNORED.test(path));
  const [pictures, others] = [
    seen.filter(({ path }) => isPicture(path)),
    seen.filter(({ path }) => !isPicture(path)),
  ];
  return { name, items: pictures, others: others.map(({ path }) => path), isZip: false };
}

/**
 * Return the sub-folders of a folder whose pictures all lie in sub-folders, each as a folder; none otherwise.
 * They may be classes of one model, or several models.
 * @param {Handed} folder
 * @returns {Handed[]}
 */
export function subfolders({ items }) {
  if (!items.length || items.some(({ path }) => !path.includes("/"))) return [];
  /** @type {Map<string, Item[]>} */
  const found = new Map();
  for (const { path, file } of items) {
    const [first, ...rest] = path.split("/");
    if (!found.has(first)) found.set(first, []);
    found.get(first)?.push({ path: rest.join("/"), file });
  }
  return [...found].map(([name, inside]) => ({ name, items: inside, others: [], isZip: false }));
}

/**
 * Return a name as models can be called: letters, digits, spaces and `._@+-`.
 * @param {string} name of a folder
 */
export function modelName(name) {
  return name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^A-Za-z0-9 ._@+-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+|[ ]+$/g, "")
    .slice(0, 100);
}

/** @param {string} path */
function isPicture(path) {
  return PICTURES.has(path.slice(path.lastIndexOf(".") + 1).toLowerCase());
}

/** @param {string} path */
function isZip(path) {
  return /\.zip$/i.test(path);
}

/**
 * Return all files within a dropped folder.
 * @param {FileSystemDirectoryEntry} folder
 * @param {string} prefix
 * @returns {Promise<Item[]>}
 */
async function within(folder, prefix) {
  const reader = folder.createReader();
  /** @type {Item[]} */
  const found = [];
  for (;;) {
    /** @type {FileSystemEntry[]} */
    const some = await new Promise((resolve, reject) =>
      reader.readEntries(resolve, () => reject(unreadable(folder))),
    ); // at most 100 at a time
    if (!some.length) return found;
    const inside = some.map(async (entry) => {
      const path = `${prefix}${entry.name}`;
      if (entry.isDirectory) return within(/** @type {FileSystemDirectoryEntry} */ (entry), `${path}/`);
      return [{ path, file: await fileOf(/** @type {FileSystemFileEntry} */ (entry)) }];
    });
    found.push(...(await Promise.all(inside)).flat());
  }
}

/**
 * @param {FileSystemFileEntry} entry
 * @returns {Promise<File>}
 */
function fileOf(entry) {
  return new Promise((resolve, reject) => entry.file(resolve, () => reject(unreadable(entry))));
}

/** @param {FileSystemEntry} entry */
function unreadable({ fullPath }) {
  return new Error(
    `${fullPath} cannot be read: see whether it is still there and you may read it, then drop the ` +
      "folder again",
  );
}
